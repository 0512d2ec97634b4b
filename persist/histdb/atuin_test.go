package histdb

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// atuinFiles returns a database as made by atuin, after running these statements. The changes are
// still in the second file.
func atuinFiles(t *testing.T, statements ...string) (database, wal []byte) {
	path := filepath.Join(t.TempDir(), "history.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if database, err = os.ReadFile(path); err == nil {
		wal, err = os.ReadFile(path + "-wal")
	}
	if err != nil {
		t.Fatal(err)
	}
	return database, wal
}

func TestDecodeAtuinReadsTimesDirectoriesAndStatuses(t *testing.T) {
	database, wal := atuinFiles(t,
		"create table history (id text primary key, timestamp integer not null, duration integer not null, exit integer not null, command text not null, "+
			"cwd text not null, session text not null, hostname text not null, deleted_at integer, unique(timestamp, cwd, command))",
		"insert into history values ('b', 1700000002000000000, -1, -1, 'vim', '/src', 's', 'host:me', null)",
		"insert into history values ('a', 1700000001000000000, 1500000000, 2, 'make test', '/src', 's', 'host:me', null)",
		"insert into history values ('c', 1700000003000000000, 1, 0, 'secret', '/src', 's', 'host:me', 1700000004000000000)",
	)
	if !IsDatabase(database) {
		t.Error("it is no database")
	}
	got, err := DecodeAtuin(t.Context(), database, wal)
	two := 2
	want := []TextCommand{
		{Line: "make test", CWD: "/src", At: time.Unix(1700000001, 0), Duration: 1500 * time.Millisecond, ExitCode: &two},
		{Line: "vim", CWD: "/src", At: time.Unix(1700000002, 0), Duration: -1},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestDecodeAtuinRejectsOtherDatabases(t *testing.T) {
	database, wal := atuinFiles(t, "create table things (id text)")
	if got, err := DecodeAtuin(t.Context(), database, wal); err == nil {
		t.Errorf("read %v", got)
	}
}
