"""A mutant's programs, built beside preset dev and never in it.

Of the tree nothing is changed: the mutant's file stands alone in a folder that is searched before the
tree, the objects that know the file are compiled into that folder, and a test's program is linked from them
and from the objects and libraries that are built already. An object that is named to the linker takes the
place of the one in an archive, because it defines the same. So a mutant of a .cpp file costs one compilation
and a link, a mutant of a header one compilation for each file of the program that includes it.
Mutants are compiled without optimisation, and with the standard library's own checks of indices: what
those find, the address sanitizer would find in scripts/check asan.
"""

import json
import os
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

from .netns import Trouble

MUTANT_FLAGS = ("-O0", "-g0", "-w", "-D_GLIBCXX_ASSERTIONS")
NOT_FOR_MUTANTS = ("-Werror", "-Winvalid-pch")


def run(command, cwd, what):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"{what} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


class Build:
    """The unchanged build: what each object is made of, and how."""

    def __init__(self, root, targets, jobs):
        self.root = root
        self.directory = root / "build" / "dev"
        run(("cmake", "--preset", "dev"), root, "'cmake --preset dev'")
        run(("ninja", f"-j{jobs}", *targets), self.directory, f"building {' '.join(targets)}")
        self.commands = self._commands()
        self.uses = self._uses()
        self.objects, self.links, self.precompiled = {}, {}, {}
        self.one_at_a_time = threading.Lock()
        for target in targets:
            self._read_target(target)
        self.linker = ("-fuse-ld=lld",) if shutil.which("ld.lld") else ()

    def _commands(self):
        """object -> the words that compile it."""
        found = {}
        for entry in json.loads((self.directory / "compile_commands.json").read_text(encoding="utf-8")):
            words = shlex.split(entry["command"])
            found[words[words.index("-o") + 1]] = words
        return found

    def _uses(self):
        """object -> the files of the tree that it is made of."""
        found, name = {}, None
        for line in run(("ninja", "-t", "deps"), self.directory, "'ninja -t deps'").splitlines():
            if not line.startswith(" "):
                name = line.split(":")[0]
                found[name] = set()
                continue
            path = os.path.normpath(os.path.join(self.directory, line.strip()))
            if path.startswith(f"{self.root}/"):
                found[name].add(path[len(f"{self.root}/"):])
        return found

    def _read_target(self, target):
        lines = run(("ninja", "-t", "commands", target), self.directory, "'ninja -t commands'").splitlines()
        objects = set()
        for line in lines:
            words = line.split()
            if "-c" in words and "-o" in words:
                objects.add(words[words.index("-o") + 1])
        self.objects[target] = objects & self.commands.keys()
        parts = [part for part in lines[-1].split(" && ") if f"-o bin/{target}" in part]
        if len(parts) != 1:
            raise Trouble(f"{target} is not linked by one command")
        self.links[target] = shlex.split(parts[0])

    def with_own_precompiled(self, words):
        """The words with precompiled headers that were made with the flags of mutants: those of the build have others."""
        places = [at for at, word in enumerate(words) if word == "-include" and words[at + 1].endswith("cmake_pch.hxx")]
        for at in places:
            with self.one_at_a_time:
                if words[at + 1] not in self.precompiled:
                    self.precompiled[words[at + 1]] = self._precompile(Path(words[at + 1]), words[:at] + words[at + 2:])
            words[at + 1] = str(self.precompiled[words[at + 1]])
        return words

    def _precompile(self, header, words):
        folder = self.root / "build" / "mutate" / "precompiled" / str(len(self.precompiled))
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / header.name
        shutil.copy(header, copy)
        words = list(words)
        words[words.index("-o") + 1] = f"{copy}.gch"
        words[words.index("-c") + 1] = str(copy)
        words[words.index("-c")] = "-xc++-header"
        run(words, self.directory, f"precompiling {header}")
        return copy

    def touched(self, target, path):
        """The objects of a program that know this file: libraries before tests."""
        found = [name for name in self.objects[target] if path in self.uses.get(name, ())]
        return sorted(found, key=lambda name: (name.startswith("tests/"), name))


class Variant:
    """One mutant's files below `folder`: objects compiled once, programs linked from them."""

    def __init__(self, build, folder, path, text):
        self.build, self.folder, self.path = build, folder, path
        self.compiled = {}
        (folder / "tree" / path).parent.mkdir(parents=True)
        (folder / "tree" / path).write_text(text, encoding="utf-8")
        (folder / "bin").mkdir()

    def program(self, target):
        """The program with the mutant in it; None when that does not compile."""
        for name in self.build.touched(target, self.path):
            if name not in self.compiled:
                self.compiled[name] = self._compile(name)
            if self.compiled[name] is None:
                return None
        return self._link(target)

    def _compile(self, name):
        words = list(self.build.commands[name])
        output = self.folder / f"{len(self.compiled)}.o"
        source = words[words.index("-c") + 1]
        words[words.index("-o") + 1] = str(output)
        words[words.index("-c") + 1] = str(self._source(Path(source)))
        words = [words[0], "-I", str(self.folder / "tree"), *words[1:], *MUTANT_FLAGS]
        words = self.build.with_own_precompiled([word for word in words if word not in NOT_FOR_MUTANTS])
        done = subprocess.run(words, cwd=self.build.directory, capture_output=True, text=True, check=False)
        return output if done.returncode == 0 else None

    def _source(self, source):
        """What is compiled: the mutant, or what includes it, by its whole path, too (a unity build)."""
        if source == self.build.root / self.path:
            return self.folder / "tree" / self.path
        text = source.read_text(encoding="utf-8")
        if str(self.build.root / self.path) not in text:
            return source
        copy = self.folder / f"unity_{len(self.compiled)}.cpp"
        copy.write_text(text.replace(str(self.build.root / self.path), str(self.folder / "tree" / self.path)),
                        encoding="utf-8")
        return copy

    def _link(self, target):
        mine = {name: str(self.compiled[name]) for name in self.build.touched(target, self.path)}
        words = list(self.build.links[target])
        rest = [path for name, path in mine.items() if name not in words]
        words = [mine.get(word, word) for word in words]
        at = words.index("-o")
        output = self.folder / "bin" / target
        words[at:at + 2] = [*rest, "-o", str(output)]
        run((*words, *self.build.linker), self.build.directory, f"linking {target}")
        return output
