# Runs one MinIO server for the process at the other end of descriptor 3. When
# that process ends, or closes its end, the server is killed and, unless told
# otherwise, its folder removed.
#
# usage: sh -c "$script" guard PROGRAM DIR PORT KEEP
program=$1 dir=$2 port=$3 keep=$4

"$program" server "$dir/data" --quiet --address "127.0.0.1:$port" --certs-dir "$dir/certs" 3<&- &
server=$!
{ read -r _ <&3; kill -KILL "$server"; } 2>/dev/null &
watch=$!
wait "$server"
kill "$watch" 2>/dev/null
[ "$keep" = keep ] || rm -rf "$dir"
