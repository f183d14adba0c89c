#!/bin/sh
# parallel.sh FILE TICKET HOSTS COUNT: machines that have the file at the same path upload COUNT shares of it.
# HOSTS is a file with a line for each, as ssh knows it. The ticket, a file of the current folder, is copied to each of them
# and removed at the end.
exec parallel --will-cite --sshloginfile "$3" --basefile "$2" --cleanup --jobs 1 --retries 3 \
  s3up put {1} --ticket {2} --shard {3}/{4} ::: "$1" ::: "$2" ::: $(seq "$4") ::: "$4"
