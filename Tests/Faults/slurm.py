"""A Slurm of one machine on loopback, as the current user, below one folder; it ends with this process."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

from harness import REPOSITORY, demand

CONFIGURATION = """ClusterName=s3up
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")


def missing():
    return [name for name in PROGRAMS if not find(name)]


def find(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


class Slurm:
    """The folder's path is short: it holds a socket."""

    def __init__(self, folder):
        self.folder, self.processes = pathlib.Path(folder), []
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        script = REPOSITORY / "Tests/Stores/free_ports.py"
        ports = output(sys.executable, script, "2").split()
        self.host = socket.gethostname().split(".")[0]
        user = output("id", "-un").strip()
        text = CONFIGURATION.format(host=self.host, user=user, ports=ports, folder=self.folder)
        (self.folder / "slurm.conf").write_text(text)
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()

    def start(self):
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "seed-file": "munge.seed"}
        files["log-file"] = "munge.log"
        places = [f"--{name}={self.folder}/{file}" for name, file in files.items()]
        self.launch("munged", "--foreground", "--force", *places)
        self.wait_for("munge", (self.folder / "munge.socket").exists)
        self.launch("slurmctld", "-D", "-c")
        self.launch("slurmd", "-D", "-N", self.host)
        self.wait_for("an idle node", lambda: "idle" in self.run("sinfo", "-h", "-o", "%T").stdout)

    def launch(self, name, *options):
        with open(self.folder / f"{name}.errors", "wb") as log:
            command = ["setpriv", "--pdeathsig", "TERM", find(name), *options]
            self.processes.append(subprocess.Popen(
                command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            ))  # fmt: skip

    def wait_for(self, what, holds):
        end = time.monotonic() + 30
        while not holds():
            logs = [file.read_text(errors="replace")[-500:] for file in self.folder.glob("*.errors")]
            demand(time.monotonic() < end, f"Slurm has not got {what}: {logs}")
            time.sleep(0.1)

    def run(self, *command, environment=None, seconds=60):
        values = {**os.environ, **self.environment, **(environment or {})}
        return subprocess.run(
            command, env=values, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=seconds,
        )  # fmt: skip
