"""The fenced blocks of the documentation's pages, among them the job files that readers copy."""

import pathlib
import re

ARTICLES = pathlib.Path(__file__).resolve().parents[3] / "Sources/MultipartCore/MultipartCore.docc"
PAGES = {
    path.name: re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)
    for path in sorted(ARTICLES.glob("*.md"))
}
# A line that only this job file has.
JOBS = {
    "slurm array": "#SBATCH --array=1-8",
    "GNU parallel": "exec parallel --will-cite --sshloginfile",
    "Kubernetes job": "completionMode: Indexed",
    "Kubernetes cron job": "kind: CronJob",
    "workflow with an untrusted job": "needs: ticket",
    "action": "using: composite",
    "GitLab template": ".s3up:",
    "systemd service": "[Service]",
    "systemd timer": "[Timer]",
    "issuer's policy": '"kms:GenerateDataKey"',
    "bucket policy": '"s3:signatureAge"',
}


def job_file(name):
    """The text of this job file, which stands in exactly one place."""
    found = [text for blocks in PAGES.values() for _, text in blocks if JOBS[name] in text]
    if len(found) != 1:
        raise SystemExit(f"the documentation has {len(found)} job files '{name}'")
    return found[0]
