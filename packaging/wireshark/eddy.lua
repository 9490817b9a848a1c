-- Wireshark reads what Eddy's switches say to each other: the shim that leaves put in front of packets and the control
-- frames that begin with it (EtherType 0x88B5), congestion notification messages with the warning inside (0x22E7), and
-- congestion isolation messages (0x88B6).
--
--   tshark -X lua_script:eddy.lua -r capture.pcap -Y 'eddy.cnm.time_to_pfc < 5000'
--
-- The layouts are those of net/shim.h, net/cnm.h and net/congestion/cim.h. A frame that is cut off or of another version
-- is said to be so, and the rest of it is data. PFC, RoCEv2 and CNPs are read by Wireshark's own dissectors.

local NONE = 0xffff
local ethertypes = DissectorTable.get("ethertype")
local data = Dissector.get("data")

-- Field makers; `name` is what a display filter says.
local function number(bits, name, text) return ProtoField["uint" .. bits](name, text, base.DEC) end
local function hex(bits, name, text, values) return ProtoField["uint" .. bits](name, text, base.HEX, values) end

local function faults_of(proto, prefix)
  local faults = {
    cut = ProtoExpert.new(prefix .. ".cut", "The message is cut off", expert.group.MALFORMED, expert.severity.ERROR),
    unknown = ProtoExpert.new(prefix .. ".unknown", "Version or kind is not known", expert.group.PROTOCOL,
      expert.severity.WARN),
  }
  faults.inner = ProtoExpert.new(prefix .. ".inner", "The packet inside is malformed", expert.group.MALFORMED,
    expert.severity.ERROR)
  proto.experts = faults
  return faults
end

-- Adds fields that follow each other: {field, octets} a row; returns where they end.
local function add_in_row(tree, buffer, at, rows)
  for _, row in ipairs(rows) do
    tree:add(row[1], buffer(at, row[2]))
    at = at + row[2]
  end
  return at
end

local function leaf_text(leaf)
  return leaf == NONE and "all leaves" or string.format("leaf %d", leaf)
end

-- The shim

local shim = Proto("eddy_shim", "Eddy leaf-to-leaf shim")
local KINDS = {
  [0] = "data", "feedback", "probe", "probe reply", "notify", "clear", "flowcut ack", "hula probe", "flow XOFF", "flow XON",
  "sweep", "swept",
}
local BODY_OCTETS = {[0] = 0, 0, 0, 0, 5, 13, 20, 8, 16, 16, 0, 0}
local KEYED = {[5] = true, [6] = true, [8] = true, [9] = true}
local SHIM_OCTETS = 32
local flag_texts = {
  {"rtt_request", "RTT asked for", 0x01}, {"rtt_echo", "RTT echoed", 0x02}, {"feedback", "Feedback", 0x04},
  {"tail", "Tail", 0x08}, {"rerouted", "Rerouted", 0x10}, {"pinned", "Pinned to its path", 0x20},
  {"sampled", "Sampled", 0x40}, {"tolerable_delay", "Tolerable delay", 0x80},
}
local f = {
  version = ProtoField.uint8("eddy.shim.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("eddy.shim.kind", "Kind", base.DEC, KINDS, 0x0f),
  flags = hex(8, "eddy.shim.flags", "Flags"),
  source = number(16, "eddy.shim.source_leaf", "Source leaf"),
  destination = number(16, "eddy.shim.destination_leaf", "Destination leaf"),
  path = number(16, "eddy.shim.path", "Path"),
  feedback_path = number(16, "eddy.shim.feedback_path", "Feedback: path"),
  congestion = number(8, "eddy.shim.congestion", "Congestion (of 255)"),
  feedback_congestion = number(8, "eddy.shim.feedback_congestion", "Feedback: congestion (of 255)"),
  hops = ProtoField.uint8("eddy.shim.hops", "Hops", base.DEC, nil, 0xf0),
  channel = ProtoField.uint8("eddy.shim.virtual_channel", "Virtual channel", base.DEC, nil, 0x0c),
  epoch = ProtoField.uint8("eddy.shim.epoch", "Epoch", base.DEC, nil, 0x03),
  class = ProtoField.uint8("eddy.shim.traffic_class", "Traffic class", base.DEC, nil, 0xf0),
  recirculations = ProtoField.uint8("eddy.shim.recirculations", "Recirculations", base.DEC, nil, 0x0f),
  tolerable = number(16, "eddy.shim.tolerable_delay_units", "Tolerable delay (64 ns)"),
  sequence = number(16, "eddy.shim.sequence", "Number in its flow"),
  sent = number(32, "eddy.shim.sent_ns", "Sent (ns, modulo 2^32)"),
  echoed = number(32, "eddy.shim.echoed_ns", "Echo: the stamp that came (ns)"),
  hold = ProtoField.uint32("eddy.shim.hold_ns", "Echo: held here (ns)", base.DEC, nil, 0x7fffffff),
  strayed = ProtoField.bool("eddy.shim.strayed", "The stamp left its path", 32, nil, 0x80000000),
  tail_sent = number(32, "eddy.shim.tail_sent_ns", "The tail was sent (ns)"),
  packets = number(8, "eddy.shim.feedback_packets", "Feedback: packets"),
  marked = number(8, "eddy.shim.feedback_marked", "Feedback: marked"),
  inner = hex(16, "eddy.shim.ethertype", "EtherType of the packet"),
  key = hex(64, "eddy.shim.flow", "Order hash of the flow"),
  acked = number(32, "eddy.shim.acked_octets", "Octets acknowledged"),
  hold_us = number(16, "eddy.shim.xoff_us", "XOFF for (us; 0: until XON)"),
  reason = ProtoField.uint8("eddy.shim.reason", "Reason", base.DEC, {"path busy", "kicked out"}),
  value = number(32, "eddy.shim.value", "Value"),
  rack = number(24, "eddy.shim.top_of_rack", "Top of rack"),
  utilisation = number(8, "eddy.shim.utilisation", "Utilisation (of 255)"),
  probe_sequence = number(32, "eddy.shim.probe_sequence", "Probe's number"),
}
local flag_fields = {}
for _, row in ipairs(flag_texts) do
  flag_fields[#flag_fields + 1] = ProtoField.bool("eddy.shim.flag." .. row[1], row[2], 8, nil, row[3])
end
shim.fields = {}
for _, field in pairs(f) do shim.fields[#shim.fields + 1] = field end
for _, field in ipairs(flag_fields) do shim.fields[#shim.fields + 1] = field end
local shim_faults = faults_of(shim, "eddy.shim")

local function has_flag(flags, mask) return bit.band(flags, mask) ~= 0 end

local function add_shim(tree, buffer, flags)
  tree:add(f.version, buffer(0, 1))
  tree:add(f.kind, buffer(0, 1))
  local flag_tree = tree:add(f.flags, buffer(1, 1))
  for _, field in ipairs(flag_fields) do flag_tree:add(field, buffer(1, 1)) end
  add_in_row(tree, buffer, 2, {{f.source, 2}, {f.destination, 2}, {f.path, 2}, {f.feedback_path, 2}, {f.congestion, 1},
    {f.feedback_congestion, 1}})
  for _, field in ipairs({f.hops, f.channel, f.epoch}) do tree:add(field, buffer(12, 1)) end
  for _, field in ipairs({f.class, f.recirculations}) do tree:add(field, buffer(13, 1)) end
  tree:add(has_flag(flags, 0x80) and f.tolerable or f.sequence, buffer(14, 2))
  add_in_row(tree, buffer, 16, {{f.sent, 4}, {f.echoed, 4}})
  if has_flag(flags, 0x08) then
    tree:add(f.tail_sent, buffer(24, 4))
  else
    tree:add(f.strayed, buffer(24, 4))
    tree:add(f.hold, buffer(24, 4))
  end
  add_in_row(tree, buffer, 28, {{f.packets, 1}, {f.marked, 1}, {f.inner, 2}})
end

local function add_body(tree, buffer, kind)
  local at = SHIM_OCTETS
  if KEYED[kind] then tree:add(f.key, buffer(at, 8)) end
  if kind == 4 then add_in_row(tree, buffer, at, {{f.reason, 1}, {f.value, 4}}) end
  if kind == 6 then tree:add(f.acked, buffer(at + 16, 4)) end
  if kind == 7 then add_in_row(tree, buffer, at, {{f.rack, 3}, {f.utilisation, 1}, {f.probe_sequence, 4}}) end
  if kind == 8 then tree:add(f.hold_us, buffer(at + 14, 2)) end
end

local function refuse(fault, tree, buffer, pinfo)
  tree:add_proto_expert_info(fault)
  return data:call(buffer, pinfo, tree)
end

-- A message of `octets` that begins with version 1 and a kind. Returns its tree and the kind; or no kind: it was refused.
local function open(proto, faults, octets, kinds, buffer, pinfo, root)
  local tree = root:add(proto, buffer(0, math.min(buffer:len(), octets)))
  local fault = buffer:len() < octets and faults.cut or
    (buffer(0, 1):bitfield(0, 4) ~= 1 or kinds[buffer(0, 1):bitfield(4, 4)] == nil) and faults.unknown
  if fault then
    refuse(fault, tree, buffer, pinfo)
    return tree, nil
  end
  return tree, buffer(0, 1):bitfield(4, 4)
end

function shim.dissector(buffer, pinfo, root)
  local tree, kind = open(shim, shim_faults, SHIM_OCTETS, KINDS, buffer, pinfo, root)
  if kind == nil then return buffer:len() end
  local ends = SHIM_OCTETS + BODY_OCTETS[kind]
  if buffer:len() < ends then return refuse(shim_faults.cut, tree, buffer, pinfo) end
  local said = string.format("%s: leaf %d to %s, path %d", KINDS[kind], buffer(2, 2):uint(), leaf_text(buffer(4, 2):uint()),
    buffer(6, 2):uint())
  tree:append_text(", " .. said)
  tree:set_len(ends)
  add_shim(tree, buffer, buffer(1, 1):uint())
  add_body(tree, buffer, kind)
  if kind == 0 and buffer:len() > SHIM_OCTETS then
    -- What is wrong inside would be told as an error of this script.
    local whole = pcall(function() ethertypes:try(buffer(30, 2):uint(), buffer(SHIM_OCTETS):tvb(), pinfo, root) end)
    if not whole then tree:add_proto_expert_info(shim_faults.inner) end
    return buffer:len()
  end
  pinfo.cols.protocol = "Eddy"
  pinfo.cols.info = said
  return ends
end

-- CNM

local cnm = Proto("eddy_cnm", "Congestion notification message")
local CNM_FIXED, WARNING_OCTETS, CULPRIT_OCTETS, MOST_CULPRITS = 24, 24, 8, 4
local c = {
  version = ProtoField.uint16("eddy.cnm.version", "Version", base.DEC, nil, 0xf000),
  feedback = ProtoField.uint16("eddy.cnm.feedback", "Feedback (0: over, 63: PFC was sent)", base.DEC, nil, 0x003f),
  bridge = ProtoField.ether("eddy.cnm.bridge", "Congestion point: bridge"),
  port = number(16, "eddy.cnm.port", "Congestion point: port"),
  offset = ProtoField.int16("eddy.cnm.queue_offset", "Queue offset (64 octets)", base.DEC),
  delta = ProtoField.int16("eddy.cnm.queue_delta", "Queue delta (64 octets)", base.DEC),
  priority = ProtoField.uint16("eddy.cnm.priority", "Priority", base.DEC, nil, 0xe000),
  destination = ProtoField.ether("eddy.cnm.destination", "Encapsulated destination"),
  length = number(16, "eddy.cnm.length", "Encapsulated octets"),
  switch = number(16, "eddy.cnm.switch", "Predicting switch"),
  leaf = number(16, "eddy.cnm.leaf", "Destination leaf (65535: all)"),
  hops = number(8, "eddy.cnm.hops_left", "Hops left"),
  culprit_count = ProtoField.uint8("eddy.cnm.culprits", "Culprits", base.DEC, nil, 0x0e),
  sequence = number(32, "eddy.cnm.sequence", "Number"),
  time_to_pfc = number(32, "eddy.cnm.time_to_pfc", "Time to PFC (ns)"),
  expiry = number(32, "eddy.cnm.expiry", "Holds for (ns)"),
  queue = number(32, "eddy.cnm.queue", "Queue (octets)"),
  culprit_leaf = number(16, "eddy.cnm.culprit.leaf", "Leaf"),
  culprit_share = number(16, "eddy.cnm.culprit.share", "Share (of 65536)"),
  culprit_tag = hex(32, "eddy.cnm.culprit.tag", "Destination's tag"),
}
cnm.fields = c
local cnm_faults = faults_of(cnm, "eddy.cnm")

local function add_culprits(tree, buffer, count)
  for i = 0, count - 1 do
    local at = CNM_FIXED + WARNING_OCTETS + i * CULPRIT_OCTETS
    local one = tree:add(buffer(at, CULPRIT_OCTETS), string.format("Culprit behind leaf %d: %.1f %%", buffer(at, 2):uint(),
      buffer(at + 2, 2):uint() * 100 / 65536))
    add_in_row(one, buffer, at, {{c.culprit_leaf, 2}, {c.culprit_share, 2}, {c.culprit_tag, 4}})
  end
end

-- Returns what the info column says of it, and where it ends.
local function add_warning(tree, buffer, feedback)
  local at = CNM_FIXED
  add_in_row(tree, buffer, at, {{c.switch, 2}, {c.leaf, 2}, {c.hops, 1}, {c.culprit_count, 1}, {c.sequence, 4},
    {c.time_to_pfc, 4}, {c.expiry, 4}, {c.queue, 4}})
  local what = feedback == 0 and "clear" or feedback == 63 and "PFC sent" or
    string.format("PFC in %.1f us", buffer(at + 10, 4):uint() / 1000)
  local count = buffer(at + 5, 1):bitfield(4, 3)
  local ends = at + WARNING_OCTETS + count * CULPRIT_OCTETS
  if count > MOST_CULPRITS or buffer:len() < ends then
    tree:add_proto_expert_info(cnm_faults.cut)
    count, ends = 0, at + WARNING_OCTETS
  end
  add_culprits(tree, buffer, count)
  return string.format("%s, %s", what, leaf_text(buffer(at + 2, 2):uint())), ends
end

function cnm.dissector(buffer, pinfo, root)
  local tree = root:add(cnm, buffer())
  if buffer:len() < CNM_FIXED then return refuse(cnm_faults.cut, tree, buffer, pinfo) end
  if buffer(0, 1):bitfield(0, 4) ~= 0 then return refuse(cnm_faults.unknown, tree, buffer, pinfo) end
  local encapsulated = buffer(22, 2):uint()
  local ends = CNM_FIXED + encapsulated
  if buffer:len() < ends then return refuse(cnm_faults.cut, tree, buffer, pinfo) end
  tree:add(c.version, buffer(0, 2))
  tree:add(c.feedback, buffer(0, 2))
  add_in_row(tree, buffer, 2, {{c.bridge, 6}, {c.port, 2}, {c.offset, 2}, {c.delta, 2}, {c.priority, 2}, {c.destination, 6},
    {c.length, 2}})
  local said = string.format("CNM of %s port %d, priority %d", buffer(2, 6):ether(), buffer(8, 2):uint(),
    buffer(14, 1):bitfield(0, 3))
  -- A warning of ours has zeros in its last two octets; another vendor's encapsulated frame is data.
  if encapsulated == WARNING_OCTETS and buffer(CNM_FIXED + 22, 2):uint() == 0 then
    local warning
    warning, ends = add_warning(tree, buffer, bit.band(buffer(1, 1):uint(), 63))
    said = said .. ": " .. warning
  elseif encapsulated > 0 then
    data:call(buffer(CNM_FIXED, encapsulated):tvb(), pinfo, tree)
  end
  tree:set_len(ends)
  pinfo.cols.protocol = "CNM"
  pinfo.cols.info = said
  return ends
end

-- CIM

local cim = Proto("eddy_cim", "Congestion isolation message")
local CIM_OCTETS = 32
local CIM_KINDS = {[0] = "hello", "hot", "cold"}
local i = {
  version = ProtoField.uint8("eddy.cim.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("eddy.cim.kind", "Kind", base.DEC, CIM_KINDS, 0x0f),
  hops = number(8, "eddy.cim.hops_left", "Hops left"),
  priority = number(8, "eddy.cim.priority", "Priority"),
  origin = number(16, "eddy.cim.origin", "Switch"),
  leaf = number(16, "eddy.cim.leaf", "Leaf"),
  tag = hex(32, "eddy.cim.tag", "Host's tag"),
  sequence = number(32, "eddy.cim.sequence", "Number"),
  expiry = number(32, "eddy.cim.expiry", "Holds for (ns)"),
  crossed = number(32, "eddy.cim.crossed_ns", "The threshold was passed (ns, modulo 2^32)"),
  queue = number(32, "eddy.cim.queue", "Queue (octets)"),
}
cim.fields = i
local cim_faults = faults_of(cim, "eddy.cim")

function cim.dissector(buffer, pinfo, root)
  local tree, kind = open(cim, cim_faults, CIM_OCTETS, CIM_KINDS, buffer, pinfo, root)
  if kind == nil then return buffer:len() end
  tree:add(i.version, buffer(0, 1))
  tree:add(i.kind, buffer(0, 1))
  add_in_row(tree, buffer, 1, {{i.hops, 1}, {i.priority, 1}})
  add_in_row(tree, buffer, 4, {{i.origin, 2}, {i.leaf, 2}, {i.tag, 4}, {i.sequence, 4}, {i.expiry, 4}, {i.crossed, 4},
    {i.queue, 4}})
  pinfo.cols.protocol = "CIM"
  pinfo.cols.info = kind == 0 and string.format("hello of switch %d", buffer(4, 2):uint()) or
    string.format("%s: host 0x%08x behind leaf %d, queue %d", CIM_KINDS[kind], buffer(8, 4):uint(), buffer(6, 2):uint(),
      buffer(24, 4):uint())
  return CIM_OCTETS
end

ethertypes:add(0x88b5, shim)
ethertypes:add(0x22e7, cnm)
ethertypes:add(0x88b6, cim)

-- Captures of a switch (eddyctl capture, eddylab run --capture): what it did with a packet stands in the packet's comment,
-- as words key=value behind "eddy" (net/capture/capture_section.h).

local capture = Proto("eddy_capture", "Eddy switch")
local s = {
  dir = ProtoField.string("eddy.capture.direction", "Direction"),
  port = ProtoField.string("eddy.capture.port", "Port"),
  queue = number(8, "eddy.capture.queue", "Queue"),
  pg = number(8, "eddy.capture.pg", "Priority group"),
  reason = ProtoField.string("eddy.capture.drop", "Dropped"),
  from = ProtoField.string("eddy.capture.from", "Came by port"),
  rlb = ProtoField.string("eddy.capture.rlb", "RLB"),
  rounds = number(8, "eddy.capture.rounds", "Rounds in the loop"),
}
capture.fields = s
local comment_of = Field.new("frame.comment")
local NUMBERS = {queue = true, pg = true, rounds = true}

-- A word of the comment; one that a newer switch says is left out.
local function add_said(tree, key, value)
  if s[key] == nil then return end
  if NUMBERS[key] then
    local count = tonumber(value)
    if count ~= nil and count >= 0 and count <= 255 then tree:add(s[key], math.floor(count)):set_generated() end
  elseif key == "rlb" then
    for decision in value:gmatch("[^+]+") do tree:add(s.rlb, decision):set_generated() end
  else
    tree:add(s[key], value):set_generated()
  end
end

function capture.dissector(_, _, root)
  for _, comment in ipairs({comment_of()}) do
    local said = tostring(comment.value)
    if said:sub(1, 5) == "eddy " then
      local tree = root:add(capture):set_generated()
      tree:append_text(": " .. said:sub(6))
      for key, value in said:gmatch("(%w+)=(%S+)") do add_said(tree, key, value) end
    end
  end
end

register_postdissector(capture)
