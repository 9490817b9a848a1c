"""What an argument stands for, where its help does not list the values: how the pages name it, and what completion offers.

By program, subcommand (empty: the program itself, *: any) and argument; a kind is how the page names it and which
function of the shell knows the values.
"""

# kind: (name on a page, what completion offers)
KINDS = {
    "file": ("FILE", "files"),
    "yaml": ("FILE", "yaml"),
    "folder": ("DIR", "folders"),
    "switch": ("NAME", "switches"),
    "port": ("PORT", "ports"),
    "leaf": ("LEAF", "leaves"),
    "experiment": ("EXPERIMENT", "experiments"),
    "variant": ("VARIANT", "variants"),
    "setting": ("KEY=VALUE", "settings"),
    "quantity": ("KEY=VALUE", ""),
    "fabric": ("NAME", "fabrics"),
    "result": ("RESULT", "results"),
    "time": ("TIME", ""),
    "threads": ("N|auto", "=auto"),
    "text": ("TEXT", ""),
    "address": ("ADDRESS:PORT", ""),
}

ARGUMENTS = {
    ("eddyd", "", "--config"): "yaml",
    ("eddyd", "", "--events"): "file",
    ("eddyd", "", "--import-sonic"): "file",
    ("eddyd", "", "--plugin"): "file",
    ("eddyd", "", "--drain-time"): "time",
    ("eddyd", "", "--wait"): "time",
    ("eddyd", "", "--ready-within"): "time",
    ("eddyctl", "", "--name"): "switch",
    ("eddyctl", "", "--socket"): "file",
    ("eddyctl", "", "--dir"): "folder",
    ("eddyctl", "", "--fabric"): "fabric",
    ("eddyctl", "", "--out"): "file",
    ("eddyctl", "", "--port"): "port",
    ("eddyctl", "", "--write"): "file",
    ("eddyctl", "", "--filter"): "text",
    ("eddyctl", "", "--listen"): "address",
    ("eddyctl", "", "--fabric"): "fabric",
    ("eddyctl", "", "--leaf"): "leaf",
    ("eddywire", "", "--socket"): "file",
    ("eddywire", "join", "--wait"): "time",
    ("eddyhost", "", "experiment"): "experiment",
    ("eddyhost", "", "--switch"): "switch",
    ("eddyhost", "", "--wait"): "time",
    ("eddyhost", "", "--patience"): "time",
    ("eddyhost", "", "--out"): "folder",
    ("eddylab", "validate", "files"): "experiment",
    ("eddylab", "run", "--threads"): "threads",
    ("eddylab", "down", "names"): "fabric",
    ("eddylab", "config", "--sockets"): "folder",
    ("eddylab", "export-results", "results"): "result",
    ("eddylab", "export-results", "--to"): "folder",
    ("eddylab", "report", "--out"): "file",
    ("eddylab", "schema", "--plugin"): "file",
    ("eddylab", "report", "--figures"): "folder",
    ("eddylab", "report", "--variant"): "text",
    ("eddylab", "report", "results"): "result",
    ("eddylab", "compare", "before"): "result",
    ("eddylab", "compare", "after"): "result",
    ("eddylab", "advise", "file"): "experiment",
    ("eddylab", "claims", "results"): "result",
    ("eddylab", "claims", "--keep"): "folder",
    ("eddylab", "import", "source"): "file",
    ("eddylab", "import", "topo"): "file",
    ("eddylab", "import", "--config"): "file",
    ("eddylab", "import", "--topology"): "file",
    ("eddylab", "import", "--flows"): "file",
    ("eddylab", "model", "--set"): "quantity",
    ("eddylab", "model", "--compare"): "result",
    ("eddylab", "model", "--figure"): "file",
    ("eddylab", "show", "result"): "result",
    ("eddylab", "show", "--figures"): "folder",
    ("eddylab", "*", "experiment"): "experiment",
    ("eddylab", "*", "--out"): "folder",
    ("eddylab-mpi", "run", "experiment"): "experiment",
    ("eddylab-mpi", "run", "--out"): "folder",
}
# In every program.
ANYWHERE = {"--set": "setting", "--variant": "variant"}
NUMBERS = ("INT", "UINT", "FLOAT")


def kind_of(program, command, argument):
    """Its kind; "" for a flag, "number" and "choice" where the values are known."""
    if argument.choices:
        return "choice"
    if not argument.kind:
        return ""
    for key in ((program, command, argument.name), (program, "*", argument.name)):
        if key in ARGUMENTS:
            return ARGUMENTS[key]
    if argument.name in ANYWHERE:
        return ANYWHERE[argument.name]
    return "number" if argument.kind in NUMBERS else "text"


def placeholder(program, command, argument):
    """What stands for its value on a page."""
    kind = kind_of(program, command, argument)
    if kind == "choice":
        return "|".join(argument.choices)
    return "" if not kind else "N" if kind == "number" else KINDS[kind][0]
