package pluginhost

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// kvService keeps the values of a plugin in the database.
type kvService struct {
	hostv1.UnimplementedKVServer
	s *service
}

// Bounds of what a plugin may keep.
const (
	maxKey    = 512     // bytes
	maxValue  = 1 << 20 // bytes
	maxValues = 100_000
)

var (
	kvGet    = db.SQL(`SELECT value FROM plugins_kv WHERE plugin = ? AND key = ? AND (expires_at = 0 OR expires_at > ?)`)
	kvPut    = db.SQL(`INSERT INTO plugins_kv (plugin, key, value, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`)
	kvInsert = db.SQL(`INSERT INTO plugins_kv (plugin, key, value, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (plugin, key) DO NOTHING`)
	kvSwap   = db.SQL(`UPDATE plugins_kv SET value = ?, expires_at = ? WHERE plugin = ? AND key = ? AND value = ? AND (expires_at = 0 OR expires_at > ?)`)
	kvDelete = db.SQL(`DELETE FROM plugins_kv WHERE plugin = ? AND key = ?`)
	kvExpire = db.SQL(`DELETE FROM plugins_kv WHERE plugin = ? AND expires_at > 0 AND expires_at <= ?`)
	kvList   = db.SQL(`SELECT key FROM plugins_kv WHERE plugin = ? AND key > ? AND key >= ? AND key < ? AND (expires_at = 0 OR expires_at > ?) ORDER BY key LIMIT ?`)
	kvThere  = db.SQL(`SELECT count(*) FROM plugins_kv WHERE plugin = ? AND key = ?`)
	kvCount  = db.SQL(`SELECT count(*) FROM plugins_kv WHERE plugin = ?`)
)

// isKey tells whether a text can be a key: no database could look for another.
func isKey(text string) bool {
	return text != "" && len(text) <= maxKey && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

func checkKey(key string) error {
	if !isKey(key) {
		return problem.Field(problem.Invalid, "key", "must be 1 to %d bytes of text", maxKey)
	}
	return nil
}

// Get implements hostv1.KVServer.
func (k kvService) Get(ctx context.Context, req *hostv1.KVGetRequest) (*hostv1.KVGetResponse, error) {
	if !isKey(req.Key) {
		return &hostv1.KVGetResponse{}, nil
	}
	var value []byte
	err := k.s.h.DB.Row(ctx, kvGet, k.s.name, req.Key, db.Micros(time.Now())).Scan(&value)
	if errors.Is(err, db.ErrNotFound) {
		return &hostv1.KVGetResponse{}, nil
	}
	return &hostv1.KVGetResponse{Found: err == nil, Value: bytes.Clone(value)}, err
}

// Set implements hostv1.KVServer.
func (k kvService) Set(ctx context.Context, req *hostv1.KVSetRequest) (*hostv1.KVSetResponse, error) {
	if err := checkKey(req.Key); err != nil {
		return nil, err
	}
	switch {
	case len(req.Value) > maxValue:
		return nil, problem.New(problem.TooLarge, "a value may have %d bytes", maxValue)
	case req.TtlMillis < 0:
		return nil, problem.Field(problem.Invalid, "ttl_millis", "must not be negative")
	case req.IfAbsent && req.IfEquals:
		return nil, problem.New(problem.Invalid, "if_absent and if_equals exclude each other")
	}
	now, expires, value := time.Now(), int64(0), req.Value
	if value == nil {
		value = []byte{}
	}
	if req.TtlMillis > 0 {
		expires = db.Micros(now.Add(time.Duration(min(req.TtlMillis, maxTTL)) * time.Millisecond))
	}
	var n int64
	err := k.s.h.DB.InTx(ctx, func(ctx context.Context) (err error) {
		if _, err = k.s.h.DB.Exec(ctx, kvExpire, k.s.name, db.Micros(now)); err != nil {
			return err
		}
		if req.IfEquals {
			old := req.Old
			if old == nil {
				old = []byte{}
			}
			n, err = k.s.h.DB.Exec(ctx, kvSwap, value, expires, k.s.name, req.Key, old, db.Micros(now))
			return err
		}
		var count int
		if err = k.s.h.DB.Row(ctx, kvCount, k.s.name).Scan(&count); err != nil {
			return err
		}
		var there int
		if count >= maxValues {
			if err = k.s.h.DB.Row(ctx, kvThere, k.s.name, req.Key).Scan(&there); err != nil {
				return err
			}
		}
		if count >= maxValues && there == 0 { // one that it keeps already may change
			return problem.New(problem.Full, "the plugin keeps %d values, which is as many as it may", count)
		}
		put := kvPut
		if req.IfAbsent {
			put = kvInsert
		}
		n, err = k.s.h.DB.Exec(ctx, put, k.s.name, req.Key, value, expires)
		return err
	})
	return &hostv1.KVSetResponse{Written: n > 0}, err
}

// maxTTL is a hundred years, in milliseconds.
const maxTTL = 100 * 365 * 24 * 3600 * 1000

// Delete implements hostv1.KVServer.
func (k kvService) Delete(ctx context.Context, req *hostv1.KVDeleteRequest) (*hostv1.KVDeleteResponse, error) {
	if !isKey(req.Key) {
		return &hostv1.KVDeleteResponse{}, nil
	}
	n, err := k.s.h.DB.Exec(ctx, kvDelete, k.s.name, req.Key)
	return &hostv1.KVDeleteResponse{Found: n > 0}, err
}

// List implements hostv1.KVServer.
func (k kvService) List(ctx context.Context, req *hostv1.KVListRequest) (*hostv1.KVListResponse, error) {
	for name, text := range map[string]string{"after": req.After, "prefix": req.Prefix} {
		if text != "" && !isKey(text) {
			return nil, problem.Field(problem.Invalid, name, "must be at most %d bytes of text", maxKey)
		}
	}
	limit := int(req.Limit)
	if limit <= 0 {
		limit = 100
	}
	rows, err := k.s.h.DB.Query(ctx, kvList, k.s.name, req.After, req.Prefix, req.Prefix+"\U0010FFFF", db.Micros(time.Now()), min(limit, 1000))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	answer := &hostv1.KVListResponse{}
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		answer.Keys = append(answer.Keys, key)
	}
	return answer, rows.Err()
}
