# Runs one PostgreSQL cluster for the process at the other end of descriptor 3.
# When that process ends, in whatever way, or closes its end, the server is
# stopped at once and, unless told otherwise, its folder removed.
#
# usage: sh -c "$script" guard BIN DIR PORT FSYNC KEEP
bin=$1 dir=$2 port=$3 fsync=$4 keep=$5

[ -d "$dir/data" ] || "$bin/initdb" --pgdata="$dir/data" --username=postgres --pwfile="$dir/password" --auth=scram-sha-256 \
	--encoding=UTF8 --locale=C --no-sync --no-instructions >/dev/null || { rm -rf "$dir"; exit 1; }

"$bin/postgres" -D "$dir/data" -p "$port" -k "$dir" -c listen_addresses=127.0.0.1 \
	-c fsync="$fsync" -c full_page_writes="$fsync" -c shared_buffers=64MB -c max_connections=200 \
	-c jit=off -c timezone=UTC 3<&- &
server=$!
# Again and again: a server that has just begun ignores the first signal.
{ read -r _ <&3; while kill -QUIT "$server"; do sleep 0.1; done; } 2>/dev/null &
watch=$!
wait "$server"
kill "$watch" 2>/dev/null
[ "$keep" = keep ] || rm -rf "$dir"
