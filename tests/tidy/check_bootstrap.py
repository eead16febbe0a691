#!/usr/bin/env python3
"""./bootstrap with nothing to fetch from: what fails is named, and nothing half-installed stays. No network, no package is installed.
usage: check_bootstrap.py SOURCE_FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop()
CUDA_RUNTIME = ["cuda-runtime-13.0.96", "cuda-cupti-13.0.85"]


class Bootstrap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        for name in ("bin", "links", "torch"):
            (self.folder / name).mkdir()
        self.program("dpkg-query", "printf installed")  # every package is there

    def program(self, name, text):
        file = self.folder / "bin" / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def call(self, *arguments, **variables):
        """Packages are looked for in the folder `links` alone."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("RINGWRIGHT_", "PIP_"))}
        own.update({"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "RINGWRIGHT_CACHE": str(self.cache), "PIP_NO_INDEX": "1",
                    "PIP_FIND_LINKS": str(self.folder / "links"), "PIP_CONFIG_FILE": os.devnull, **variables})
        return subprocess.run([os.path.join(SOURCE, "bootstrap"), *arguments], env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def pretend_to_have(self, *folders):
        for folder in folders:
            (self.cache / folder).mkdir(parents=True)

    def assert_failed(self, outcome, *words):
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        for word in words:
            self.assertIn(word, outcome.stderr)
        left = {path.name for path in self.cache.iterdir()} - {".lock", "cuda-libraries-13.0", *CUDA_RUNTIME}
        self.assertEqual(left, set(), "something is left of it")

    def test_without_a_network_it_says_what_it_could_not_fetch(self):
        self.assert_failed(self.call("build"), "bootstrap: error: nvidia-cuda-runtime 13.0.96 could not be fetched", "no network", "call ./bootstrap again")

    def test_the_cuda_runtime_is_taken_for_a_libtorch_of_ones_own_too(self):
        self.assert_failed(self.call("build", RINGWRIGHT_TORCH_DIR=str(self.folder / "torch")), "nvidia-cuda-runtime")

    def test_libtorch_is_fetched_after_it(self):
        self.pretend_to_have(*CUDA_RUNTIME)
        self.assert_failed(self.call("build"), "error: torch 2.11.0 could not be fetched")

    def test_dear_imgui_leaves_nothing_either(self):
        self.pretend_to_have(*CUDA_RUNTIME)
        self.assert_failed(self.call("build", RINGWRIGHT_TORCH_DIR=str(self.folder / "torch")), "error: imgui-bundle 1.93.0 could not be fetched")

    def test_a_file_with_another_hash_is_refused(self):
        self.pretend_to_have(*CUDA_RUNTIME)
        (self.folder / "links" / "imgui_bundle-1.93.0.tar.gz").write_bytes(b"something else")
        self.assert_failed(self.call("build", RINGWRIGHT_TORCH_DIR=str(self.folder / "torch")), "THESE PACKAGES DO NOT MATCH THE HASHES", "hash mismatch")

    def test_what_an_interrupted_call_left_is_swept(self):
        self.pretend_to_have(".part-backend/scikit_build_core", ".part-abc123/download")
        self.assert_failed(self.call("build"), "nvidia-cuda-runtime")

    def test_help_names_what_is_fetched_and_an_unknown_command_is_refused(self):
        self.assertIn("two small CUDA runtime", self.call("help").stdout)
        self.assertEqual(self.call("bild").returncode, 2)
        self.assertFalse(self.cache.exists())


if __name__ == "__main__":
    unittest.main()
