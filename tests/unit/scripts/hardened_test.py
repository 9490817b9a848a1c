"""scripts/lib/hardened.py sees each guard of a program, and that the release preset asks for all of them."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.hardened import lacks  # noqa: E402

SOURCE = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  char text[64];
  strcpy(text, argv[argc - 1]);
  return printf("%s\n", text) < 0;
}
"""
GUARDS = ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now")
NONE = ("-fno-stack-protector", "-U_FORTIFY_SOURCE", "-Wl,-z,norelro,-z,lazy")


class Hardened(unittest.TestCase):
    def built(self, *flags):
        folder = tempfile.TemporaryDirectory(prefix="eddy-hardened-")
        self.addCleanup(folder.cleanup)
        program = Path(folder.name) / "program"
        subprocess.run(["cc", "-O2", "-x", "c", "-", "-o", program, *flags], input=SOURCE, text=True, check=True)
        return program

    def test_a_program_with_all_of_them_lacks_nothing(self):
        self.assertEqual(lacks(self.built(*GUARDS)), [])

    def test_each_that_is_left_out_is_missed(self):
        for left_out, said in enumerate(("__stack_chk_fail", "_FORTIFY_SOURCE", "BIND_NOW")):
            flags = [NONE[i] if i == left_out else flag for i, flag in enumerate(GUARDS)]
            with self.subTest(flags):
                self.assertIn(said, " ".join(lacks(self.built(*flags))))
        self.assertEqual(len(lacks(self.built(*NONE))), 4)

    def test_release_asks_for_them(self):
        text = (ROOT / "cmake" / "EddyFlags.cmake").read_text(encoding="utf-8")
        for flag in GUARDS:
            self.assertTrue(re.search(rf"CONFIG:Release>:[^>]*{re.escape(flag)}", text), flag)


if __name__ == "__main__":
    unittest.main(verbosity=2)
