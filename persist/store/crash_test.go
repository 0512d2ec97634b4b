package store

import (
	"fmt"
	"strings"
	"testing"

	"tandem/persist/datadir"
	"tandem/persist/logtest"
	"tandem/tests/seed"
)

func TestKilledWriterLeavesCompleteFiles(t *testing.T) {
	s, random := mustStore(t), seed.Rand(t)
	for range 10 {
		acked := logtest.Start(t, roleSaver, logtest.PathVar+"="+s.dir).KillAfter(t, random.IntN(30))
		records, problems := s.Load()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if acked == 0 {
			continue
		}
		for _, name := range fileNames(t, s.Dir("p")) {
			if strings.HasPrefix(name, datadir.TempPrefix) {
				t.Errorf("%s is left of a killed write", name)
			}
		}
		if len(records) != 1 || int64(records[0].Cols) < acked || records[0].Argv[0] != fmt.Sprint(records[0].Cols) {
			t.Fatalf("number %d was saved, and the records are %v", acked, records)
		}
		resizes, err := s.ReadResizes("p")
		if err != nil || len(resizes) == 0 || resizes[len(resizes)-1].Offset < acked {
			t.Fatalf("number %d was saved, and the sizes are %v, %v", acked, resizes, err)
		}
		checkpoints, err := s.ReadCheckpoints("p")
		if err != nil || len(checkpoints) == 0 || checkpoints[0].Offset < acked-1 {
			t.Fatalf("number %d was saved, and there are %d checkpoints, %v", acked, len(checkpoints), err)
		}
	}
}
