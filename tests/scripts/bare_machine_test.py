#!/usr/bin/env python3
# tests/scripts/bare_machine_test.py - the package is installed by the commands of docs/PACKAGES.md, on a bare Debian or
# Ubuntu in a folder.
"""    bare_machine_test.py SOURCE_FOLDER BUILD_FOLDER       needs root, debootstrap and the distribution's packages
"""
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from bare_system import BareSystem, run, skip

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def block_of(document, begin):
    """The lines of the code block that begins with `begin`, without comments."""
    text = (SOURCE / document).read_text()
    [block] = re.findall(rf"^```[a-z]*\n({re.escape(begin)}.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line.split("  #")[0].strip() for line in block.splitlines()]


def test_the_package_is_installed_as_documented(root):
    bare = BareSystem(root)
    bare.run("apt-get update -q")
    run(SOURCE / "scripts/package.sh", "--build", BUILD, "--out", bare.root)
    install, fetch, version = block_of("docs/PACKAGES.md", "apt-get install ./salient")
    bare.run(install.replace("install", "install -y -q", 1))
    told = bare.run(version, expect=66).stderr
    assert "salient-fetch-torch" in told, told
    bare.run(fetch, shared=["salient"])  # LibTorch is there, as a rule: the download is that of every set-up
    if not re.search(r"^SALIENT_CUDA:\w+=ON$", (BUILD / "CMakeCache.txt").read_text(), re.M):
        told = bare.run(version, shared=["salient"]).stdout
        assert re.match(r"salient-train \d", told), told
        return
    lacking = bare.run(version, expect=66, shared=["salient"]).stderr
    assert re.search(r"libcu\w+\.so\.\d+ \(CUDA 13\)", lacking) and lacking.count("\n") == 1, lacking


for tool in ("cpack", "dpkg-shlibdeps"):
    if shutil.which(tool) is None:
        skip(f"no {tool}")
with tempfile.TemporaryDirectory(prefix="salient-bare-") as work:
    test_the_package_is_installed_as_documented(pathlib.Path(work) / "root")
