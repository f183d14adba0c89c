"""Checks the job files of the articles: what they promise, and that YAML, JSON and scripts are valid."""

import configparser
import json
import subprocess

import yaml

from articles import JOBS, PAGES, job_file

ACTIONS = {"s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:GetObject"}
STEPS = {"uses", "with", "id", "run", "env", "shell"}


def demand(holds, promise):
    if not holds:
        raise SystemExit(f"Tests/Acceptance/Jobs: {promise}")


def valid():
    for page, blocks in PAGES.items():
        for language, text in blocks:
            try:
                {"yaml": yaml.safe_load, "json": json.loads}.get(language, str)(text)
            except (yaml.YAMLError, ValueError) as error:
                demand(False, f"{page} has {language} that cannot be read: {error}")
    for name in ("slurm array", "GNU parallel"):
        demand(subprocess.run(["dash", "-n"], input=job_file(name), text=True, check=False).returncode == 0, f"{name}: no script")


def uploader():
    """The policy of an article allows the upload to those that the article names."""
    (policy,) = [json.loads(text) for language, text in PAGES["Policies.md"] if language == "json"]
    allowed = policy["Statement"]
    demand(set(allowed[0]["Action"]) == ACTIONS, "the uploader's policy does not have the rights of an upload")
    demand(all(item["Effect"] == "Allow" for item in allowed), "the uploader's policy forbids something")
    pages = [yaml.safe_load(text) for language, text in PAGES["ContinuousIntegration.md"] if language == "yaml"]
    flow, _, pipeline, _ = pages
    demand(set(flow) == {"name", True, "permissions", "jobs"} and flow["permissions"] == {}, "not the keys of a workflow")
    job = flow["jobs"]["publish"]
    demand(job["permissions"] == {"contents": "read", "id-token": "write"}, "the job has other rights than it needs")
    demand(all(set(step) <= STEPS for step in job["steps"]), "a step has a key that GitHub does not know")
    job = pipeline["publish"]
    token = job["variables"]["AWS_WEB_IDENTITY_TOKEN_FILE"]
    demand(token and "AWS_TOKEN" in job["id_tokens"] and "umask 077" in job["script"][0], "the token's file is open to others")


def policies():
    allowed = json.loads(job_file("issuer's policy"))["Statement"]
    demand(set(allowed[0]["Action"]) == ACTIONS, "the issuer's policy does not have the rights of a ticket")
    demand(all(item["Effect"] == "Allow" for item in allowed), "the issuer's policy forbids something")
    denied = json.loads(job_file("bucket policy"))["Statement"]
    demand(all(item["Effect"] == "Deny" for item in denied), "the bucket's policy allows something")
    demand("s3:signatureAge" in str(denied[0]["Condition"]["NumericGreaterThan"]), "it does not limit the age")
    demand("aws:SourceIp" in denied[1]["Condition"]["NotIpAddress"], "it does not limit the address")


def kubernetes():
    job = yaml.safe_load(job_file("Kubernetes job"))
    demand((job["apiVersion"], job["kind"]) == ("batch/v1", "Job"), "no Job")
    spec = job["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    demand(spec["completionMode"] == "Indexed", "the Job is not indexed")
    demand(spec["parallelism"] <= spec["completions"], "more pods at once than there are shares")
    command = container["command"]
    demand(command[-2:] == ["--shard", f"auto/{spec['completions']}"], "the shares are not as many as the Job's indexes")
    # Both are required of a Job with a policy for failures of each index.
    demand(pod["restartPolicy"] == "Never" and spec["backoffLimitPerIndex"] > 0, "a failed share is not tried again")
    (rule,) = spec["podFailurePolicy"]["rules"]
    demand(rule["action"] == "FailIndex" and rule["onExitCodes"]["operator"] == "In", "no failure is final")
    demand(rule["onExitCodes"]["containerName"] == container["name"], "the rule is for another container")
    values = rule["onExitCodes"]["values"]
    demand(values == sorted(set(values)) and not {0, 75} & set(values), "the final exit codes are not in order")
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    demand(set(mounts) == volumes, "a volume is not mounted, or a mount has no volume")
    for path in (word for word in command if word.startswith("/")):
        demand(any(path.startswith(place + "/") for place in mounts.values()), f"{path} is on no volume")


def actions():
    # `on` is a boolean in YAML 1.1.
    flow = yaml.safe_load(job_file("workflow with an untrusted job"))
    demand(set(flow) == {"name", True, "permissions", "jobs"} and flow["permissions"] == {}, "not the keys of a workflow")
    ticket, build = flow["jobs"]["ticket"], flow["jobs"]["build"]
    for job in (ticket, build):
        demand(all(set(step) <= STEPS for step in job["steps"]), "a step has a key that GitHub does not know")
    demand(ticket["permissions"] == {"id-token": "write"}, "the issuing job has other rights than it needs")
    demand("checkout" not in str(ticket["steps"]), "the job with credentials checks out the repository")
    demand(build["permissions"] == {"contents": "read"}, "the untrusted job can do more than read")
    demand("secrets." not in job_file("workflow with an untrusted job"), "a job gets a secret")
    demand(build["needs"] == "ticket" and "ticket" in ticket["outputs"], "the ticket does not reach the job")
    demand(build["steps"][0]["with"]["persist-credentials"] is False, "the checkout leaves its token behind")


def templates():
    action = yaml.safe_load(job_file("action"))
    demand(set(action) == {"name", "description", "inputs", "outputs", "runs"}, "not the keys of an action")
    (step,) = action["runs"]["steps"]
    demand(action["runs"]["using"] == "composite" and set(step) <= STEPS and step["shell"], "no composite action")
    demand("${{" not in step["run"], "an input is read as shell")
    for name, output in action["outputs"].items():
        demand(output["value"] == "${{ steps.%s.outputs.%s }}" % (step["id"], name), f"{name} is no output of the step")
    job = yaml.safe_load(job_file("GitLab template"))[".s3up"]
    demand("umask 077" in job["before_script"][0], "the token's file is open to others")
    demand(job["artifacts"]["reports"]["dotenv"] in job["script"][0].split(), "the report is not the file that is written")


def systemd():
    def unit(name):
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str
        parser.read_string(job_file(name))
        return parser

    service, timer = unit("systemd service"), unit("systemd timer")
    demand(timer["Timer"]["OnCalendar"] and timer["Install"]["WantedBy"] == "timers.target", "the timer starts nothing")
    run = service["Service"]
    demand(run["Type"] == "oneshot" and run["ExecStart"].startswith("s3up put "), "the service is no upload")
    demand("--deadline" in run["ExecStart"] and run["Restart"] == "no", "a run of the night may go on by day")
    demand(run["Environment"] == "S3UP_STATE_DIR=/var/lib/" + run["StateDirectory"], "its state is kept elsewhere")


def cronjob():
    job = yaml.safe_load(job_file("Kubernetes cron job"))
    demand((job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob"), "no CronJob")
    demand(job["spec"]["concurrencyPolicy"] == "Forbid", "two nights may meet")
    spec = job["spec"]["jobTemplate"]["spec"]
    demand(spec["activeDeadlineSeconds"] < 12 * 3600, "a job of the night may go on by day")
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    (rule,) = spec["podFailurePolicy"]["rules"]
    demand(pod["restartPolicy"] == "Never" and rule["onExitCodes"]["containerName"] == container["name"], "no rule")
    values = rule["onExitCodes"]["values"]
    demand(values == sorted(set(values)) and not {0, 75} & set(values), "the final exit codes are not in order")
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    demand({word for word in container["command"] if word.startswith("/")} == mounts, "a path is on no volume")
    demand({mount["name"] for mount in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}, "no volume")


def main():
    valid()
    policies()
    uploader()
    kubernetes()
    actions()
    templates()
    systemd()
    cronjob()
    print(f"{len(JOBS)} job files of the articles hold what the articles say")


main()
