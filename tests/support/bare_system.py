# tests/support/bare_system.py - a bare Debian or Ubuntu in a folder, to install things in. Needs root and debootstrap.
import os
import pathlib
import re
import shutil
import subprocess
import sys

HOST_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
CERTIFICATES = "etc/host-certificates.crt"  # what pip trusts, since a package may replace the system's list


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*words, expect=0, **options):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)
    assert done.returncode == expect, (words, done.returncode, done.stdout[-2000:] + done.stderr[-2000:])
    return done


class BareSystem:
    def __init__(self, root, suite=None):
        """Makes it, or ends the test as skipped.

        @param root   a folder that is not there
        @param suite  its release by name; none = that of this machine
        """
        for tool in ("debootstrap", "unshare", "chroot"):
            if shutil.which(tool) is None:
                skip(f"no {tool}")
        if os.geteuid() != 0:
            skip("only root can make a bare system")
        if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
            skip("no mount is allowed here")
        self.root = root
        release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M))
        sources = "".join(path.read_text() for path in pathlib.Path("/etc/apt").glob("sources.list*/*.sources"))
        mirror = re.findall(rf"^URIs: *(\S+)\nSuites: *{release['VERSION_CODENAME']}\b", sources, re.M)[:1]
        done = subprocess.run(["debootstrap", "--variant=minbase", suite or release["VERSION_CODENAME"], root, *mirror],
                              text=True, capture_output=True)
        if done.returncode != 0:
            skip("debootstrap failed: " + (done.stdout.strip().splitlines() or ["no reason given"])[-1])
        for name in ("resolv.conf", "pip.conf", "ssl/certs/ca-certificates.crt"):  # what this network may need
            if pathlib.Path("/etc", name).exists():
                (root / "etc" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(pathlib.Path("/etc", name), root / "etc" / name)
        trusted = pathlib.Path(os.environ.get("PIP_CERT") or "/etc/ssl/certs/ca-certificates.crt")
        if trusted.is_file():
            shutil.copy(trusted, root / CERTIFICATES)

    def run(self, command, expect=0, shared=(), mounts=(), user="0", **variables):
        """Runs a command of the shell in it.

        @param shared     folders below the host's cache that are seen in it, too
        @param mounts     (folder of the host, path in it), likewise
        @param user       by number
        @param variables  of the environment
        """
        lines = [f"mount -t proc proc {self.root}/proc", f"mount --bind /dev {self.root}/dev"]
        for folder, path in [*mounts, *((HOST_CACHE / name, f"/root/.cache/{name}") for name in shared)]:
            there = self.root / path.lstrip("/")
            there.mkdir(parents=True, exist_ok=True)
            lines.append(f"mount --bind {folder} {there}")
        lines.append(f'exec chroot --userspec={user}:{user} {self.root} /bin/bash -e -c "$1"')
        kept = {name: value for name, value in os.environ.items() if re.match(r"PIP_|\w+_proxy$", name, re.I)}
        if (self.root / CERTIFICATES).exists():
            kept["PIP_CERT"] = f"/{CERTIFICATES}"
        return run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-e", "-c", "\n".join(lines), "sh",
                   command, expect=expect, env={"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                                                "DEBIAN_FRONTEND": "noninteractive", **kept, **variables})
