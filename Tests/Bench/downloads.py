"""The measured downloads: each is a function from a Job, whose source is the target, to a command and its environment."""

import dataclasses

import clients


def s3up(job):
    command, environment = clients.s3up()(dataclasses.replace(job, is_tree=False))
    what = ["get", "-r"] if job.is_tree else ["get"]
    return [command[0], *what, job.url, job.source, *command[4:]], environment


def curl(job):
    return [*clients.CURL, "--cacert", job.ca_file, "--output", job.source, f"{job.endpoint}/bucket/{job.key}"], {}


def curl_tree(job):
    """One curl for all files, several at once: nothing is listed, compared or proven."""
    lines = []
    for path in clients.files_below(job.original):
        lines += [f'output = "{job.source}/{path}"', f'url = "{job.endpoint}/bucket/{job.key}/{path}"']
    return clients.curl_at_once(job, lines, "--create-dirs"), {}


def floor(job):
    sizes = [str(job.part_mib << 20), str(job.connections)]
    return [job.tools.getfloor, f"{job.endpoint}/bucket/{job.key}", job.source, *sizes, job.ca_file], {}


def obstore(way):
    def command(job):
        script = [job.python("obstore"), str(clients.HERE / "obstore_get.py")]
        key = job.key + ("/" if job.is_tree else "")
        return [*script, job.endpoint, key, job.source, *clients.numbers(job), way], {}

    return command


def crt(job):
    script = [job.python("crt"), str(clients.HERE / "crt_copy.py"), "get"]
    return [*script, job.endpoint, job.source, job.key, *clients.numbers(job), job.ca_file], {}


def awscli(job):
    command, environment = clients.awscli(job)
    return [*command[:-2], job.url, job.source], environment


def s5cmd(job):
    environment = {"AWS_CA_BUNDLE": job.ca_file} if job.is_tls else {}
    command = [clients.s5cmd_program(job), "--endpoint-url", job.endpoint, "--log", "error"]
    if job.is_tree:
        return [*command, *job.limits("--numworkers", ""), "cp", f"{job.url}*", f"{job.source}/"], environment
    return [*command, "cp", *job.limits("-c", "-p"), job.url, job.source], environment


def rclone(job):
    command, environment = clients.rclone(dataclasses.replace(job, connections=None, part_mib=None))
    limits = job.limits("--transfers" if job.is_tree else "--multi-thread-streams", "--multi-thread-chunk-size", "M")
    return [command[0], command[1], *limits, *command[3:-1], command[-1], job.source], environment


def list_s3up(job):
    command, environment = s3up(job)
    return [command[0], "ls", "-r", "s3://bucket/keys/", *command[4:]], environment


def list_s5cmd(job):
    return [clients.s5cmd_program(job), "--endpoint-url", job.endpoint, "ls", "s3://bucket/keys/*"], {}


def list_awscli(job):
    command, environment = clients.awscli(job)
    return [*command[: command.index("s3") + 1], "ls", "--recursive", "s3://bucket/keys/"], environment


def list_rclone(job):
    command, environment = clients.rclone(job)
    return [command[0], "lsf", "-R", "sink:bucket/keys"], environment
