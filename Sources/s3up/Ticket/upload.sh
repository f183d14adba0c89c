#!/bin/sh
# sh THIS-SCRIPT FILE
#
# Uploads one file to one place by presigned requests, and can do nothing else. It needs sh, dd and curl (7.67 or newer).
# After an interruption the same command continues. It is a secret until it expires: whoever has it can use it.
# Written by s3up; `s3up put FILE --ticket TICKET` does the same over several connections.
#
# A part that is at the store is skipped if its MD5 is the file's, where there is a program for MD5s, or if this script has
# noted that it came from this file, unchanged since; else it is sent again. The notes are in
# ${XDG_STATE_HOME:-$HOME/.local/state}/s3up/scripts and need `stat`.
#
# All of it is one command in braces, so that a script that was cut off on its way here does nothing.
#
# Exit status: 0 done, 64 usage, 65 not the file that may be uploaded, 66 no such file, 69 refused for good, or complete and
# nothing shows that it is this file, 73 precondition, 75 temporary, try again, 77 expired or refused.
{
set -uf
umask 077
export LC_ALL=C

url=__URL__
id=__ID__
expires=__EXPIRES__
size=__SIZE__
most=__MOST__
part_size=__PART_SIZE__
block=__BLOCK__
etag_is_md5=__ETAG_IS_MD5__
object_etag=__ETAG__
object_sum=__SUM__
complete=__COMPLETE__
head=__HEAD__
# What errors mean, whatever the status beside them.
meanings=__MEANINGS__

tab=$(printf '\t')
return=$(printf '\r')
line_feed='
'

# Names and answers can contain what a terminal would interpret.
say() {
  printf '%s\n' "$(printf '%s' "$1" | tr -c '\040-\176' '?')"
}

fail() { # STATUS MESSAGE [REMEDY]
  say "upload: $2" >&2
  [ -z "${3-}" ] || say "$3" >&2
  exit "$1"
}

# The file's current identity, or nothing where there is no `stat`: a change of its bytes changes the last two fields.
identity() {
  TZ=UTC0 stat -L -c '%d,%i,%s,%y,%z' -- "$file" 2>/dev/null || stat -L -f '%d,%i,%z,%Fm,%Fc' -- "$file" 2>/dev/null
}

# Reads what earlier runs have noted about this file in its current state: sets noted_N to the ETag of part N,
# noted_object to the object's.
read_notes() {
  note=
  [ -n "$identity" ] || return 0
  case ${XDG_STATE_HOME-} in /*) note=$XDG_STATE_HOME ;; *) note=${HOME:+$HOME/.local/state} ;; esac
  [ -n "$note" ] || return 0
  note=$note/s3up/scripts/$id
  [ -r "$note" ] || return 0
  while IFS=$tab read -r whose number etag; do
    case $number in '' | *[!0-9]* | ??????*) [ "$number" = object ] || continue ;; esac
    [ "$whose" != "$identity" ] || eval "noted_$number=\$etag"
  done <"$note"
}

# keep_note N-OR-object ETAG: each line names its file, because runs with two files may write at the same time.
keep_note() {
  eval "noted_$1=\$2"
  case $2 in '' | *[!!-~]*) return 0 ;; esac
  [ -n "$note" ] || return 0
  { mkdir -p "${note%/*}" && printf '%s\t%s\t%s\n' "$identity" "$1" "$2" >>"$note"; } 2>/dev/null || note=
}

# Ends if the file has changed since the beginning.
still_same() {
  if [ "$(identity)" != "$identity" ] || reaches "$size" || { [ "$size" -gt 0 ] && ! reaches $((size - 1)); }; then
    fail 65 "$file has changed while it was read"
  fi
}

# Whether the file has a byte at this position.
reaches() {
  case $(dd if="$file" of=/dev/null bs=1 skip="$1" count=1 2>&1) in 1+0*) ;; *) return 1 ;; esac
}

# Sets `size`, and `count`, the number of parts.
measure() {
  if [ -z "$size" ]; then
    ! reaches "$most" || fail 65 "$file is longer than the $most bytes that may be uploaded"
    low=0 high=$most
    while [ "$low" -lt "$high" ]; do
      middle=$(((low + high) / 2))
      if reaches "$middle"; then low=$((middle + 1)); else high=$middle; fi
    done
    size=$low
  elif reaches "$size" || { [ "$size" -gt 0 ] && ! reaches $((size - 1)); }; then
    fail 65 "$file is not the file that may be uploaded, which has $size bytes"
  fi
  count=$(((size + part_size - 1) / part_size))
  [ "$count" -gt 0 ] || count=1
}

# request QUERY HEADERS OPTION...: prints the answer, then the status and the bytes sent. The URL is not on a command
# line, because all users can read those. Without --fail a refusal is not an error for curl.
request() {
  query=$1 lines='' rest=$2
  shift 2
  while [ -n "$rest" ]; do
    lines="${lines}header = \"${rest%%"$tab"*}\"$line_feed"
    case $rest in *"$tab"*) rest=${rest#*"$tab"} ;; *) rest= ;; esac
  done
  curl -q -K /dev/fd/3 "$@" -w '\n%{http_code} %{size_upload}' 3<<CONFIG
url = "$url?$query"
globoff
proto = "=http,https"
no-progress-meter
header = "Expect:"
${lines}connect-timeout = 20
speed-limit = 1
CONFIG
}

# settle COMMAND ARG...: sets `code`, `sent` and `answer` from the request that it makes, and `lost` if an earlier try of it
# may have worked.
# What may pass is repeated here and not by curl, which would continue after this script was killed.
settle() {
  pause=1 lost=
  while :; do
    answer=$("$@")
    code=${answer##*"$line_feed"}
    sent=${code##* } code=${code%% *}
    answer=${answer%"$line_feed"*}
    between "$answer" Code
    case $meanings in *" $value="*) code=${meanings#*" $value="} code=${code%% *} ;; esac
    case $code in
      501 | 507) return 0 ;;
      000 | 408 | 429 | 5[0-9][0-9]) ;;
      404) is_page || return 0 ;;
      [0-9][0-9][0-9]) return 0 ;;
      *) fail 69 'curl failed: it must be 7.67 or newer' ;;
    esac
    [ "$pause" -le 128 ] || return 0
    say "trying again in $pause s ($code)" >&2
    sleep "$pause"
    pause=$((pause * 2))
    case $code in 503) ;; 000 | 404 | 5*) lost=yes ;; esac
  done
}

# Whether a 404 is a page of something between here and the store, which says nothing about the upload.
is_page() {
  page=$answer
  case $page in HTTP/*) page=${page#*"$return$line_feed$return$line_feed"} ;; esac
  case $page in '' | HTTP/* | *'<Error'* | *:Error'>'* | *:Error' '*) return 1 ;; esac
}

between() { # TEXT TAG: sets `value`
  value=
  case $1 in *"<$2>"*) value=${1#*"<$2>"} value=${value%%"<"*} ;; esac
}

bare() { # ETAG as a header or XML has it: sets `etag`
  etag=${1#W/}
  for quote in '"' '&quot;' '&#34;' '&#x22;'; do etag=${etag#"$quote"} etag=${etag%"$quote"}; done
  lower
}

# Some stores write the MD5 in an ETag in capitals.
lower() {
  case ${etag%-*} in
    *[!0-9A-Fa-f]*) ;;
    *[A-F]*) etag=$(printf '%s' "$etag" | tr A-F a-f) capitals=yes ;;
  esac
}

# Sets `found`, the length, `etag` and `sum` from the headers of the answer.
read_headers() {
  found='' etag='' sum='' capitals=''
  IFS=$line_feed
  for line in $answer; do
    line=${line%"$return"}
    case $line in
      HTTP/*) found='' etag='' sum='' ;;
      [Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh]:*) found=${line#*:} found=${found# } ;;
      [Ee][Tt][Aa][Gg]:*) etag=${line#*:} && bare "${etag# }" ;;
      [Xx]-[Aa][Mm][Zz]-[Cc][Hh][Ee][Cc][Kk][Ss][Uu][Mm]-[!Tt]*:*) sum=${line#*:} sum=${sum# } ;;
    esac
  done
  unset IFS
}

# Ends with the store's answer to WHAT.
refused() {
  between "$answer" Code
  case $code$value in
    501* | 507*) fail 69 "the store refuses $1 ($code${value:+ $value})" ;;
    200* | 000* | 408* | 429* | 5*)
      fail 75 "$1 failed ($code${value:+ $value})" 'Run the same command again: it continues.' ;;
    401* | 403*)
      fail 77 "the store refuses $1 ($code${value:+ $value})" \
        "It is valid until $expires; if it has expired, or was changed, ask for a new one." ;;
    400BadDigest | 400InvalidDigest | 400*Checksum* | 400*SHA256*)
      fail 65 "$file is not the file that may be uploaded, or has changed: the store refuses $1 ($value)" ;;
    409* | 412*)
      why="$code${value:+ $value}"
      if [ "$1" = 'the completion' ] && [ -n "$lost" ]; then
        show_object && is_from_file && complete_already
      fi
      fail 73 "the object already exists, or is not the expected one ($why)" ;;
    404*)
      ! is_page || fail 75 "$1 failed ($code)" 'Run the same command again: it continues.'
      ended ;;
    *) fail 69 "the store refuses $1 ($code${value:+ $value})" ;;
  esac
}

# The upload is gone: it was completed or aborted.
ended() {
  show_object || fail 69 'the upload is gone, and the object is not this file' \
    'It was aborted, or the object was replaced: ask for a new one.'
  is_from_file || fail 69 "the upload is complete, but nothing here shows that the object is $file" \
    'Another file of this size may have been uploaded: compare them, or ask for a new one.'
  complete_already
}

complete_already() {
  still_same
  report "the object was already complete: $url ($size bytes, $proof)"
  exit 0
}

# Says that it is done. If nobody reads that, it is done nevertheless.
report() {
  trap '' PIPE
  say "$1" 2>/dev/null || :
}

# For each of the answer's parts: sets have_N to its size at the store, etag_N (without quotes) and sum_N.
keep_parts() {
  number=
  IFS='<'
  for word in $answer; do
    case $word in
      Part\>*) number='' bytes='' etag='' sum='' ;;
      PartNumber\>*) number=${word#*>} ;;
      Size\>*) bytes=${word#*>} ;;
      ETag\>*)
        bare "${word#*>}" ;;
      Checksum[!T]*\>*) sum=${word#*>} ;;
      /Part\>*)
        case $number in
          '' | *[!0-9]* | ??????*) ;;
          *) eval "have_$number=\$bytes etag_$number=\$etag sum_$number=\$sum" ;;
        esac ;;
    esac
  done
  unset IFS
}

# Requests the list of parts, a thousand on each page.
look() {
  while IFS=' ' read -r after query headers <&4; do
    [ "$after" -lt "$count" ] || break
    settle request "$query" "$headers" --speed-time 60 </dev/null
    [ "$code" = 200 ] || refused 'the list of parts'
    keep_parts
  done 4<<'LISTS'
__LISTS__
LISTS
}

# each_part COMMAND: calls it with number, MD5 (or -), XML of the checksum (or -), query (or -) and headers of each part.
each_part() {
  while IFS=' ' read -r number md5 sum query headers <&5; do
    [ "$number" -le "$count" ] || break
    "$1" "$number" "$md5" "$sum" "$query" "$headers"
  done 5<<'PARTS'
__PARTS__
PARTS
}

# Sets `length` to the length of a part.
measure_part() {
  length=$part_size
  [ "$1" -lt "$count" ] || length=$((size - (count - 1) * part_size))
}

# Reads no more bytes than the part has, even if the file grows: the last blocks are halved until they fit.
read_part() {
  measure_part "$1"
  at=$((($1 - 1) * part_size)) bytes=$block
  while [ "$length" -gt 0 ]; do
    blocks=$((length / bytes))
    if [ "$blocks" -gt 0 ]; then
      dd if="$file" bs="$bytes" skip=$((at / bytes)) count="$blocks" 2>/dev/null || return
      at=$((at + blocks * bytes)) length=$((length - blocks * bytes))
    fi
    bytes=$((bytes / 2))
  done
}

# Computes the MD5 of the file's part, if this machine can: sets `md5`, and md5_N.
own_md5() {
  eval "md5=\${md5_$1-}"
  [ -z "$md5" ] || return 0
  md5=$(read_part "$1" | $hasher)
  md5=${md5%% *}
  [ ${#md5} -eq 32 ] || fail 66 "$file cannot be read"
  eval "md5_$1=\$md5"
}

# is_there NUMBER SIGNED_MD5: whether the store has the part, and it is proven to be from this file.
is_there() {
  measure_part "$1"
  have=''
  eval "have=\${have_$1-} etag=\${etag_$1-} noted=\${noted_$1-}"
  [ "$have" = "$length" ] && [ -n "$etag" ] || return 1
  [ "$noted" != "$etag" ] || return 0
  [ -n "$hasher" ] || return 1
  own_md5 "$1"
  [ "$2" = - ] || [ "$2" = "$md5" ] || fail 65 "$file is not the file that may be uploaded: part $1 differs"
  case $etag in "$md5") ;; *) return 1 ;; esac
}

send_part() { # NUMBER QUERY HEADERS
  read_part "$1" | request "$2" "Content-Type:$tab$3" -i --data-binary @- -X PUT --speed-time 60
}

send() {
  ! is_there "$1" "$2" || return 0
  [ "$4" != - ] || fail 77 "part $1 cannot be sent, and nothing here shows that the store has it from this file" \
    'It was at the store when this was written: ask for a new one with all parts.'
  # The store compares it with a signed checksum.
  [ -z "$hasher" ] || [ -n "$object_etag$object_sum" ] || own_md5 "$1"
  say "part $1 of $count" >&2
  settle send_part "$1" "$4" "$5"
  [ "$code" = 200 ] || refused "part $1"
  read_headers
  # An error can follow a 200, and a page of something between here and the store can come with one, also before it has
  # read the part.
  case $etag:$answer in :* | *'<Error'* | *'<!'* | *'<'[Hh][Tt][Mm][Ll]*) refused "part $1" ;; esac
  measure_part "$1"
  [ "$sent" = "$length" ] || fail 65 "$file has changed, or cannot be read: $sent bytes of part $1 were sent"
  eval "md5=\${md5_$1-} etag_$1=\$etag"
  case $etag in *"$md5"*) ;; *) fail 65 "$file has changed while part $1 was read, or the store has received other bytes" ;; esac
  still_same
  keep_note "$1" "$etag"
}

part_in_xml() {
  eval "etag=\$etag_$1"
  [ "$3" = - ] && sum= || sum=$3
  printf '%s' "<Part><PartNumber>$1</PartNumber><ETag>\"$etag\"</ETag>$sum</Part>"
}

whole_in_xml() {
  printf '%s' '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
  each_part part_in_xml
  printf '%s' '</CompleteMultipartUpload>'
}

# The store may take minutes to assemble the object.
send_list() {
  whole_in_xml | request "${complete%% *}" "Content-Type: application/xml$tab${complete#* }" \
    --data-binary @- --speed-time 600
}

# The bytes of the part's MD5.
md5_in_bytes() {
  own_md5 "$1"
  while [ -n "$md5" ]; do
    rest=${md5#??}
    # shellcheck disable=SC2059
    printf "\\$(printf '%03o' "0x${md5%"$rest"}")"
    md5=$rest
  done
}

# Whether the object can be the result of this upload, by everything that HEAD shows: sets `proof`, and `proven` if its
# bytes are proven to be those that were signed, or those of this file.
show_object() {
  settle request "${head%% *}" "${head#* }" -I --speed-time 60 </dev/null
  case $code in 200) ;; 404) return 1 ;; *) refused 'the question for the object' ;; esac
  read_headers
  [ "$found" = "$size" ] || return 1
  proven=
  if [ -n "$object_sum" ] && [ -n "$sum" ]; then
    proof="proven by its checksum $sum" proven=yes
    [ "$sum" = "$object_sum" ]
    return
  fi
  [ -n "$object_etag" ] || [ -z "$hasher" ] || own_etag=$(file_etag)
  proof="it has this size; ETag $etag"
  # Not every store makes ETags of MD5s.
  value=${etag%-*}
  [ ${#value} -eq 32 ] && [ "$etag_is_md5" = yes ] || return 0
  [ "${completed:-$etag}" = "$etag" ] || return 1
  if [ "$value" = "$etag" ]; then
    # The ETag of a single request, and so not of this upload, unless a store itself returned it at completion.
    [ "$etag" = "$completed" ]
    return
  fi
  [ "${etag##*-}" = "$count" ] || return 1
  value=${object_etag:-$own_etag}
  [ -n "$value" ] || return 0
  # A store that makes ETags in another way is believed if it gave this one at completion: when the parts are signed, or
  # when the ETag is in capitals, as at Alibaba's OSS. Otherwise the object may be another file, because SeaweedFS answers
  # a second completion with the result of the first.
  [ "$etag" = "$value" ] || { [ "$etag" = "$completed" ] && [ -n "$object_etag$object_sum$capitals" ]; return; }
  proof="proven by its ETag $etag" proven=yes
}

# The ETag that an object made of this file's parts has.
file_etag() {
  value=$(each_part md5_in_bytes | $hasher)
  printf '%s' "${value%% *}-$count"
}

is_noted() {
  eval "noted=\${noted_$1-}"
  [ -n "$noted" ] || printf no
}

# Whether the object of show_object is this file: by a note about it, by MD5s of the file, or because the store has
# accepted each part from it with a signed checksum.
is_from_file() {
  if [ -n "${noted_object-}" ] && [ "$noted_object" = "$etag" ]; then
    [ -n "$proven" ] || proof="it has this size, and the ETag $etag that it had when this file was uploaded"
    return 0
  fi
  [ -n "$proven" ] || return 1
  [ -n "$(each_part is_noted)" ] || return 0
  [ -n "$own_etag" ] || [ -z "$hasher" ] || own_etag=$(file_etag)
  [ "$own_etag" = "$etag" ]
}

{ [ $# -eq 1 ] && [ "$1" != -h ] && [ "$1" != --help ]; } || fail 64 'one file is needed' "sh $0 FILE"
file=$1
{ [ -f "$file" ] && [ -r "$file" ]; } || fail 66 "$file is not a file that can be read"
command -v curl >/dev/null || fail 69 'curl is not installed'
hasher='' note='' own_etag='' completed='' capitals=''
if [ "$etag_is_md5" = yes ]; then
  for try in md5sum 'openssl md5 -r' 'md5 -q'; do
    # One that is there may still refuse to work, as openssl does in FIPS mode.
    case $($try </dev/null 2>/dev/null) in d41d8cd98f00b204e9800998ecf8427e*) hasher=$try && break ;; esac
  done
fi
identity=$(identity)
measure
read_notes
look
each_part send
still_same
settle send_list
# As after a part.
case $code$answer in
  200*'<Error'* | 200*':Error'* ) refused 'the completion' ;;
  200*'CompleteMultipartUploadResult'*) ;;
  *) refused 'the completion' ;;
esac
between "$answer" ETag
bare "$value"
completed=$etag
show_object || fail 75 "the object is not this file ($code)" 'It may have been replaced: run the same command again.'
# The parts' notes are needed no longer.
[ -z "$note" ] || : >"$note"
keep_note object "$etag"
report "uploaded $file to $url ($size bytes, $proof)"
}
# For s3up ticket show, renew, finish and revoke:
# __TICKET__
