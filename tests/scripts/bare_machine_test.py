#!/usr/bin/env python3
# tests/scripts/bare_machine_test.py - the package is installed by the commands of docs/PACKAGES.md, on a bare Debian or
# Ubuntu in a folder.
"""    bare_machine_test.py SOURCE_FOLDER BUILD_FOLDER       needs root, debootstrap and the distribution's packages
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
HOST_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*words, expect=0, **options):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)
    assert done.returncode == expect, (words, done.returncode, done.stdout[-2000:] + done.stderr[-2000:])
    return done


def block_of(document, begin):
    """The lines of the code block that begins with `begin`, without comments."""
    text = (SOURCE / document).read_text()
    [block] = re.findall(rf"^```[a-z]*\n({re.escape(begin)}.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line.split("  #")[0].strip() for line in block.splitlines()]


class Bare:
    """A bare system in a folder."""

    def __init__(self, root):
        self.root = root
        release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M))
        sources = "".join(path.read_text() for path in pathlib.Path("/etc/apt").glob("sources.list*/*.sources"))
        suite = release["VERSION_CODENAME"]
        mirror = re.findall(rf"^URIs: *(\S+)\nSuites: *{suite}\b", sources, re.M)[:1]
        done = subprocess.run(["debootstrap", "--variant=minbase", suite, root, *mirror], text=True,
                              capture_output=True)
        if done.returncode != 0:
            skip("debootstrap failed: " + (done.stdout.strip().splitlines() or ["no reason given"])[-1])
        for name in ("resolv.conf", "pip.conf", "ssl/certs/ca-certificates.crt"):  # what this network may need
            if pathlib.Path("/etc", name).exists():
                (root / "etc" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(pathlib.Path("/etc", name), root / "etc" / name)

    def run(self, command, expect=0, shared=()):
        """@param shared  folders below the host's cache that are seen in it, too"""
        lines = [f"mount -t proc proc {self.root}/proc", f"mount --bind /dev {self.root}/dev"]
        for name in shared:
            there = self.root / "root/.cache" / name
            there.mkdir(parents=True, exist_ok=True)
            lines.append(f"mount --bind {HOST_CACHE / name} {there}")
        lines.append(f'exec chroot {self.root} /bin/bash -e -c "$1"')
        kept = {name: value for name, value in os.environ.items() if re.match(r"PIP_|\w+_proxy$", name, re.I)}
        return run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-e", "-c", "\n".join(lines), "sh",
                   command, expect=expect, env={"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                                                "DEBIAN_FRONTEND": "noninteractive", **kept})


def test_the_package_is_installed_as_documented(root):
    bare = Bare(root)
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


for tool in ("debootstrap", "unshare", "chroot", "cpack", "dpkg-shlibdeps"):
    if shutil.which(tool) is None:
        skip(f"no {tool}")
if os.geteuid() != 0:
    skip("only root can make a bare system")
if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
    skip("no mount is allowed here")
with tempfile.TemporaryDirectory(prefix="salient-bare-") as work:
    test_the_package_is_installed_as_documented(pathlib.Path(work) / "root")
