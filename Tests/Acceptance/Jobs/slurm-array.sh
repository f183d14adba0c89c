#!/bin/sh
#SBATCH --job-name=upload
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --output=upload.%A.%a
# sbatch slurm-array.sh FILE TICKET: eight nodes that share a file system upload one file.
exec s3up put "$1" --ticket "$2" --shard auto
