"""What containerlab does with a topology file, as far as nodes of kind linux go: containers, veth pairs, CLAB_INTFS, exec.

It takes only the keys that containerlab documents for such nodes in all of its releases, each with the type that its
published schema gives it; any other is a mistake. Containerlab's own containers have all capabilities and a management
interface eth0; these have those that are listed here, and no eth0.
"""

import re
import shlex
from pathlib import Path

import yaml

from support import Trouble, run

CAPABILITIES = ("NET_ADMIN", "NET_RAW", "IPC_LOCK")
NODE_KEYS = {"kind": str, "image": str, "user": str, "entrypoint": str, "cmd": str, "binds": list, "exec": list,
             "env": dict, "labels": dict}
ENDPOINT = re.compile(r"^([a-z0-9-]+):([a-z0-9-]{1,15})$")


def check(document):
    """What is wrong with a topology file, a line each."""
    wrong = [f"unknown key {key}" for key in document if key not in ("name", "topology")]
    topology = document.get("topology", {})
    wrong += [f"unknown key topology.{key}" for key in topology if key not in ("nodes", "links")]
    for name, node in topology.get("nodes", {}).items():
        for key, value in node.items():
            if not isinstance(value, NODE_KEYS.get(key, ())):
                wrong.append(f"{name}.{key}: unknown, or of another type")
        for key in ("binds", "exec"):
            each = node.get(key, ["x"])
            if not each or not all(isinstance(line, str) for line in each) or len(set(each)) < len(each):
                wrong.append(f"{name}.{key}: is a list of different texts, at least one")
        for key in ("env", "labels"):
            if not all(isinstance(value, (str, int, float)) for value in node.get(key, {}).values()):
                wrong.append(f"{name}.{key}: has texts and numbers")
        if node.get("kind") != "linux":
            wrong.append(f"{name}.kind: only linux")
    for link in topology.get("links", []):
        ends = [ENDPOINT.match(end) for end in link.get("endpoints", ())]
        if list(link) != ["endpoints"] or len(ends) != 2 or not all(ends):
            wrong.append(f"link {link}: two endpoints NODE:INTERFACE")
        elif unknown := [end[1] for end in ends if end[1] not in topology["nodes"]]:
            wrong.append(f"link {link}: no node {unknown[0]}")
    if "links" in topology and not topology["links"]:
        wrong.append("links: at least one, or none of the key")
    return wrong


class Lab:
    """A topology file, deployed."""

    def __init__(self, engine, path):
        self.engine = engine
        self.folder = Path(path).parent
        self.document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        if wrong := check(self.document):
            raise Trouble(f"{path}: {'; '.join(wrong)}")
        self.nodes = self.document["topology"]["nodes"]
        self.links = [[end.split(":") for end in link["endpoints"]]
                      for link in self.document["topology"].get("links", [])]

    def container(self, node):
        return f"clab-{self.document['name']}-{node}"

    def deploy(self):
        for name in self.nodes:
            self._start(name)
        for number, link in enumerate(self.links):
            self._wire(number, link)
        for name, node in self.nodes.items():
            for line in node.get("exec", ()):
                self.engine.exec(self.container(name), *shlex.split(line))

    def destroy(self):
        self.engine.remove(*(self.container(name) for name in self.nodes))

    def _start(self, name):
        node = self.nodes[name]
        interfaces = sum(end[0] == name for link in self.links for end in link)
        options = ["--name", self.container(name), "--hostname", name, "--network", "none",
                   "--env", f"CLAB_INTFS={interfaces}", "--label", f"containerlab={self.document['name']}"]
        for capability in CAPABILITIES:
            options += ["--cap-add", capability]
        for bind in node.get("binds", ()):
            source, *rest = bind.split(":")
            path = self.folder / source
            if not path.exists():
                raise Trouble(f"{name}: there is no {path} to bind")
            options += ["--volume", ":".join([str(path.resolve()), *rest])]
        for key, value in node.get("env", {}).items():
            options += ["--env", f"{key}={value}"]
        for key, value in node.get("labels", {}).items():
            options += ["--label", f"{key}={value}"]
        for key in ("user", "entrypoint"):
            if key in node:
                options += [f"--{key}", node[key]]
        self.engine.run(node["image"], *shlex.split(node.get("cmd", "")), options=options)

    def _wire(self, number, link):
        """Made here and moved, as containerlab does, which turns the checksums of both ends off."""
        made = [f"clab{number}a", f"clab{number}b"]
        run("ip", "link", "add", made[0], "type", "veth", "peer", "name", made[1])
        for device, (node, interface) in zip(made, link):
            pid = self.engine.pid(self.container(node))
            run("ip", "link", "set", device, "netns", pid, "name", interface)
            inside = ("nsenter", "--net", "--target", pid)
            run(*inside, "ethtool", "-K", interface, "tx", "off")
            run(*inside, "ip", "link", "set", interface, "up")
