#!/bin/sh
# sh upload.sh FILE
#
# Uploads one file to one place by presigned requests, and can do nothing else. It needs sh, dd and curl (7.71 or newer).
# After an interruption the same command continues. It is a secret until it expires: whoever has it can use it.
# Written by s3up; `s3up put FILE --ticket TICKET` does the same over several connections.
#
# Exit status: 0 done and proven, 64 usage, 65 not the file that may be uploaded, 66 no such file, 69 refused for good,
# 73 precondition, 75 temporary, try again, 77 expired or refused.
set -uf
export LC_ALL=C

url=__URL__
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

tab=$(printf '\t')
return=$(printf '\r')
line_feed='
'

fail() { # STATUS MESSAGE [REMEDY]
  echo "upload: $2" >&2
  [ -z "${3-}" ] || echo "$3" >&2
  exit "$1"
}

# Whether the file has a byte at this place.
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
    fail 65 "$file is not the file that may be uploaded: that one has $size bytes"
  fi
  count=$(((size + part_size - 1) / part_size))
  [ "$count" -gt 0 ] || count=1
}

# request QUERY HEADERS OPTION...: prints the answer, and the status on a line after it. The URL is on no command line,
# because everybody can read those. Without --fail a refusal is no error for curl: it repeats what failed on the way, or was
# answered 408, 429 or 5xx.
request() {
  query=$1 lines= rest=$2
  shift 2
  while [ -n "$rest" ]; do
    lines="${lines}header = \"${rest%%"$tab"*}\"$line_feed"
    case $rest in *"$tab"*) rest=${rest#*"$tab"} ;; *) rest= ;; esac
  done
  curl -q -K /dev/fd/3 "$@" -w '\n%{http_code}' 3<<CONFIG
url = "$url?$query"
globoff
proto = "=http,https"
no-progress-meter
header = "Expect:"
${lines}connect-timeout = 20
speed-limit = 1
retry = 8
retry-connrefused
retry-all-errors
retry-max-time = 900
CONFIG
}

# Sets `code` and `answer` from what `request` has printed.
settle() {
  code=${1##*"$line_feed"}
  answer=${1%"$line_feed"*}
  case $code in [0-9][0-9][0-9]) ;; *) fail 69 'curl failed: it must be 7.71 or newer' ;; esac
}

between() { # TEXT TAG: sets `value`
  value=
  case $1 in *"<$2>"*) value=${1#*"<$2>"} value=${value%%"<"*} ;; esac
}

# Sets `found`, the length, `etag` and `sum` from the headers of the answer.
read_headers() {
  found= etag= sum=
  IFS=$line_feed
  for line in $answer; do
    line=${line%"$return"}
    case $line in
      HTTP/*) found= etag= sum= ;;
      [Cc]ontent-[Ll]ength:*) found=${line#*:} found=${found# } ;;
      [Ee][Tt]ag:*) etag=${line#*:} etag=${etag# } etag=${etag#\"} etag=${etag%\"} ;;
      [Xx]-[Aa]mz-[Cc]hecksum-[!Tt]*:*) sum=${line#*:} sum=${sum# } ;;
    esac
  done
  unset IFS
}

# Ends with what the store has answered to WHAT.
refused() {
  between "$answer" Code
  case $code$value in
    200?* | 000* | 408* | 429* | 5* | 400RequestTimeout)
      fail 75 "$1 failed ($code${value:+ $value})" 'Run the same command again: it continues.' ;;
    401* | 403* | 400ExpiredToken)
      fail 77 "the store refuses $1 ($code${value:+ $value})" \
        "It is valid until $expires; if it has expired, or was changed, ask for a new one." ;;
    400BadDigest | 400InvalidDigest | 400*Checksum* | 400*SHA256*)
      fail 65 "$file is not the file that may be uploaded, or has changed: the store refuses $1 ($value)" ;;
    409* | 412*) fail 73 "the object exists, or is another one than it has to be ($code${value:+ $value})" ;;
    404*) ended ;;
    *) fail 69 "the store refuses $1 ($code${value:+ $value})" ;;
  esac
}

# The upload is gone: somebody has completed it, or it was aborted.
ended() {
  show_object || fail 69 'the upload is gone, and the object is not this file' \
    'It was aborted, or the object was replaced: ask for a new one.'
  echo "the object was complete already: $url ($size bytes, $proof)"
  exit 0
}

# Each of the answer's parts: sets have_N to its size at the store, etag_N (without quotes) and sum_N.
keep_parts() {
  number=
  IFS='<'
  for word in $answer; do
    case $word in
      Part\>*) number= bytes= etag= sum= ;;
      PartNumber\>*) number=${word#*>} ;;
      Size\>*) bytes=${word#*>} ;;
      ETag\>*) etag=${word#*>} etag=${etag#&quot;} etag=${etag%&quot;} etag=${etag#\"} etag=${etag%\"} ;;
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

# Asks for the list of parts, a thousand on each page.
look() {
  while IFS=' ' read -r after query headers <&4; do
    [ "$after" -lt "$count" ] || break
    settle "$(request "$query" "$headers" --speed-time 60 </dev/null)"
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

read_part() {
  dd if="$file" bs="$block" skip=$((($1 - 1) * (part_size / block))) count=$((part_size / block)) 2>/dev/null
}

# Without a signed MD5 it is computed here if this machine can: sets `md5`, and md5_N.
own_md5() {
  eval "md5=\${md5_$1-}"
  [ -z "$md5" ] || return 0
  md5=$(read_part "$1" | $hasher)
  md5=${md5%% *}
  eval "md5_$1=\$md5"
}

# is_there NUMBER MD5 XML: whether the store has the part, of its length and with its checksum.
is_there() {
  length=$part_size
  [ "$1" -lt "$count" ] || length=$((size - (count - 1) * part_size))
  eval "have=\${have_$1-} etag=\${etag_$1-} kept=\${sum_$1-}"
  [ "$have" = "$length" ] || return 1
  if [ -n "$kept" ] && [ "$3" != - ]; then
    case $3 in *">$kept<"*) return 0 ;; *) return 1 ;; esac
  fi
  md5=$2
  [ "$md5" != - ] || [ -z "$hasher" ] || own_md5 "$1"
  case $md5 in - | '') return 0 ;; esac
  case $etag in *"$md5"*) ;; *) return 1 ;; esac
}

send() {
  ! is_there "$1" "$2" "$3" || return 0
  [ "$4" != - ] || fail 77 "part $1 cannot be sent" 'It was at the store when this was written: ask for a new one.'
  [ -z "$hasher" ] || own_md5 "$1"
  echo "part $1 of $count" >&2
  settle "$(read_part "$1" | request "$4" "Content-Type:$tab$5" -i --data-binary @- -X PUT --speed-time 60)"
  [ "$code" = 200 ] || refused "part $1"
  read_headers
  eval "md5=\${md5_$1-} etag_$1=\$etag"
  case $etag in *"$md5"*) ;; *) fail 65 "$file has changed while part $1 was read, or the store has got other bytes" ;; esac
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

# Whether the object is this file, by all that can be known of it: sets `proof`.
show_object() {
  settle "$(request "${head%% *}" "${head#* }" -I --speed-time 60 </dev/null)"
  [ "$code" = 200 ] || return 1
  read_headers
  [ "$found" = "$size" ] || return 1
  if [ -n "$object_sum" ] && [ -n "$sum" ]; then
    proof="proven by its checksum $sum"
    [ "$sum" = "$object_sum" ]
    return
  fi
  if [ -z "$object_etag" ] && [ -n "$hasher" ]; then
    object_etag=$(each_part md5_in_bytes | $hasher)
    object_etag=${object_etag%% *}-$count
  fi
  proof="it has this size; ETag $etag"
  # Not every store makes ETags of MD5s.
  [ "${etag%-*}" != "$etag" ] && value=${etag%-*} && [ ${#value} -eq 32 ] || return 0
  [ "${etag##*-}" = "$count" ] || return 1
  [ -n "$object_etag" ] || return 0
  proof="proven by its ETag $etag"
  [ "$etag" = "$object_etag" ]
}

[ $# -eq 1 ] || fail 64 'one file is needed' "sh $0 FILE"
file=$1
[ -f "$file" ] && [ -r "$file" ] || fail 66 "$file is not a file that can be read"
command -v curl >/dev/null || fail 69 'curl is not installed'
hasher=
if [ "$etag_is_md5" = yes ] && [ -z "$object_etag$object_sum" ]; then
  if command -v md5sum >/dev/null; then hasher=md5sum; elif command -v openssl >/dev/null; then hasher='openssl md5 -r'; fi
fi
measure
look
each_part send
# The store may take minutes to assemble the object.
settle "$(whole_in_xml | request "${complete%% *}" "Content-Type: application/xml$tab${complete#* }" \
  --data-binary @- --speed-time 600)"
case $code$answer in
  200*'<Error>'*) refused 'the completion' ;;
  200*) ;;
  *) refused 'the completion' ;;
esac
show_object || fail 75 "the object is not this file ($code)" 'Somebody may have replaced it: run the same command again.'
echo "uploaded $file to $url ($size bytes, $proof)"
# For s3up ticket show, renew, finish and revoke:
# __TICKET__
