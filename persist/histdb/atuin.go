package histdb

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// IsDatabase reports whether the content of file is an SQLite database.
func IsDatabase(file []byte) bool { return bytes.HasPrefix(file, []byte("SQLite format 3\x00")) }

// DecodeAtuin reads the history of atuin. database is the content of its database, and wal the
// content of the file "-wal" beside it (the write-ahead log), which may be empty. Both are copied
// to temporary files, because SQLite opens only files.
func DecodeAtuin(ctx context.Context, database, wal []byte) ([]TextCommand, error) {
	dir, err := os.MkdirTemp("", "tandem-atuin-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "history.db")
	if err := os.WriteFile(path, database, 0o600); err != nil {
		return nil, err
	}
	if len(wal) > 0 {
		if err := os.WriteFile(path+"-wal", wal, 0o600); err != nil {
			return nil, err
		}
	}
	uri := url.URL{Scheme: "file", Path: path}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return atuinRows(ctx, db)
}

// atuinRows returns the rows of atuin's table, the oldest first. Times in it are in nanoseconds. A
// duration or exit status of -1 is unknown.
func atuinRows(ctx context.Context, db *sql.DB) (all []TextCommand, err error) {
	rows, err := db.QueryContext(ctx, "SELECT command, cwd, timestamp, duration, exit FROM history WHERE deleted_at IS NULL ORDER BY timestamp, id")
	if err != nil {
		return nil, fmt.Errorf("not an atuin history: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c TextCommand
		var at, lasted, exit int64
		if err := rows.Scan(&c.Line, &c.CWD, &at, &lasted, &exit); err != nil {
			return nil, err
		}
		c.At, c.Duration = time.Unix(0, at), max(time.Duration(lasted), -1)
		if exit >= 0 {
			code := int(exit)
			c.ExitCode = &code
		}
		all = appendCommand(all, c)
	}
	return all, rows.Err()
}
