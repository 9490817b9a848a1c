"""Sockets that answer `show` as the switches of a leaf-spine fabric do, with numbers that grow: for tests and
measurements of who reads them. One thread serves all of them.
"""

import json
import os
import random
import selectors
import socket
import threading

SPEED = 10_000_000_000
BUFFER = 2 << 20
LOSSLESS = 3


class FakePort:
    """A port, with counters as a report has them."""

    def __init__(self, name, role, mac, peer_mac=None):
        self.row = {"port": name, "role": role, "admin": "up", "oper": "up", "tx": "on", "speed_bps": SPEED, "mac": mac,
                    "rx_bps": 0, "tx_bps": 0, "queued_bytes": 0, "dropped_packets": 0, "pfc_tx_xoff": 0, "pfc_rx_xoff": 0,
                    "ecn_marked_packets": 0, "cnm_tx_packets": 0, "cnm_rx_packets": 0}
        if peer_mac:
            self.row["peer_mac"] = peer_mac
        self.rlb = {"port": name, "pfc_predicted": 0, "cnm_tx_packets": 0, "cnm_rx_packets": 0, "cnm_relayed_packets": 0,
                    "rlb_rerouted_packets": 0, "rlb_waiting_packets": 0}


class FakeSwitches:
    """`spines` and `leaves`, joined each to each, and `hosts` at every leaf; `names` may give ports to hosts other names."""

    def __init__(self, folder, spines=2, leaves=2, hosts=2, seed=1, host_names=()):
        self._random = random.Random(seed)
        self._folder = folder
        self._lock = threading.Lock()
        self.asked = 0
        self.switches = {}
        macs = iter(f"02:00:00:00:{i >> 8:02x}:{i & 255:02x}" for i in range(1 << 16))
        for spine in range(1, spines + 1):
            self.switches[f"spine{spine}"] = []
        for leaf in range(1, leaves + 1):
            ports = self.switches[f"leaf{leaf}"] = []
            for host in range(1, hosts + 1):
                name = host_names[host - 1] if host <= len(host_names) else f"h{host}"
                ports.append(FakePort(name, "host", next(macs)))
            for spine in range(1, spines + 1):
                near, far = next(macs), next(macs)
                ports.append(FakePort(f"spine{spine}", "fabric", near, far))
                self.switches[f"spine{spine}"].append(FakePort(f"leaf{leaf}", "fabric", far, near))
        self._sockets = {}
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        for name in self.switches:
            self.come(name)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self):
        self._wake.send(b"x")
        self._thread.join()
        for name in list(self._sockets):
            self.go(name)
        self._selector.close()
        self._wake.close()
        self._woken.close()

    def come(self, name):
        path = self._folder / f"{name}.sock"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(64)
        with self._lock:
            self._sockets[name] = listener
        self._selector.register(listener, selectors.EVENT_READ, ("listener", name))

    def go(self, name):
        """As a switch that ends: its socket goes with it."""
        with self._lock:
            listener = self._sockets.pop(name)
        self._selector.unregister(listener)
        listener.close()
        os.unlink(self._folder / f"{name}.sock")

    def port(self, switch, name):
        return next(port for port in self.switches[switch] if port.row["port"] == name)

    def stir(self):
        """Other numbers for every port, as of a second of busy traffic."""
        draw = self._random
        with self._lock:
            for ports in self.switches.values():
                for port in ports:
                    row = port.row
                    row["tx_bps"], row["rx_bps"] = (int(SPEED * draw.random()) for _ in range(2))
                    row["queued_bytes"] = int(BUFFER * draw.random() ** 6)
                    for key, likely in (("pfc_tx_xoff", .15), ("pfc_rx_xoff", .15), ("cnm_tx_packets", .2), ("cnm_rx_packets", .2),
                                        ("ecn_marked_packets", .3), ("dropped_packets", .05)):
                        row[key] += draw.randrange(1, 400) if draw.random() < likely else 0
                    for key in port.rlb:
                        if key != "port":
                            port.rlb[key] += draw.randrange(1, 90) if draw.random() < .2 else 0

    def change(self, switch, name, **values):
        with self._lock:
            self.port(switch, name).row.update(values)

    def _serve(self):
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                kind, name = key.data
                if kind == "listener":
                    try:
                        client, _ = key.fileobj.accept()
                    except OSError:
                        continue
                    self._selector.register(client, selectors.EVENT_READ, ("client", name))
                else:
                    self._answer(key.fileobj, name)

    def _answer(self, client, name):
        try:
            line = client.recv(1 << 16)
            if line:
                client.sendall((json.dumps(self._result(name, json.loads(line))) + "\n").encode())
                return
        except OSError:
            pass
        self._selector.unregister(client)
        client.close()

    def _result(self, name, request):
        wanted = request.get("port")
        with self._lock:
            self.asked += 1
            ports = [port for port in self.switches[name] if wanted in (None, port.row["port"])]
            rows = {"ports": [dict(port.row) for port in ports],
                    "rlb": [dict(port.rlb) for port in ports],
                    "queues": [{"port": port.row["port"], "queue": LOSSLESS, "scheduler": "dwrr", "weight": 15,
                                "used_bytes": port.row["queued_bytes"], "user_watermark_bytes": BUFFER, "paused": "no", "storm": "no",
                                "tx_bps": port.row["tx_bps"], "queue_tx_packets": 1_000_000, "queue_dropped_packets": 0,
                                "ecn_marked_packets": port.row["ecn_marked_packets"]} for port in ports]}.get(request["report"], [])
        return {"ok": True, "result": {"report": request["report"], "switch": name, "generation": 1, "uptime_ns": 500_000_000_000,
                                       "rows": rows}}
