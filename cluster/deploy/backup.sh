#!/bin/sh
# Saves the whole state of a cluster to a new archive in a folder, reads the archive back, and
# deletes archives that are older than a number of days, and what a killed run left:
#   backup.sh FOLDER DAYS
# The environment names node and token: CONCLAVE_HTTP_ADDR, CONCLAVE_CACERT and
# CONCLAVE_HTTP_TOKEN_FILE. Reading a snapshot needs acl:write.
set -eu
umask 077
folder=$1
days=$2
archive=$folder/conclave-$(date -u +%Y%m%dT%H%M%SZ).tgz
new=$folder/new.tgz
conclave snapshot save "$new"
sums=$(tar -xzOf "$new" SHA256SUMS)
echo "$sums" | while read -r sum name; do
  if [ "$(tar -xzOf "$new" "$name" | sha256sum)" != "$sum  -" ]; then
    echo "$new: $name is not what was saved" >&2
    exit 1
  fi
done
mv "$new" "$archive"
find "$folder" \( -name 'conclave-*.tgz' -o -name 'new.tgz.*.part' \) -mmin "+$((days * 1440))" -delete
echo "$archive"
