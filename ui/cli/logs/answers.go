package logs

import (
	"encoding/base64"
	"unicode/utf8"

	"tandem/engine/api"
)

// answers combines the answers about a log into one.
type answers struct {
	first *api.ProcessLogOutput // with the later ones added, except for the data
	data  []byte
}

func (a *answers) add(out api.ProcessLogOutput) error {
	data, err := out.Bytes()
	if err != nil {
		return err
	}
	a.data = append(a.data, data...)
	if a.first == nil {
		a.first = &out
		return nil
	}
	a.first.Matches = append(a.first.Matches, out.Matches...)
	a.first.Times = append(a.first.Times, out.Times...)
	a.first.NextCursor, a.first.End = out.NextCursor, max(out.End, out.NextCursor)
	a.first.State, a.first.Process = out.State, out.Process
	return nil
}

func (a *answers) answer() *api.ProcessLogOutput {
	if a.first.Data, a.first.DataBytes = string(a.data), ""; !utf8.Valid(a.data) {
		a.first.Data, a.first.DataBytes = "", base64.StdEncoding.EncodeToString(a.data)
	}
	return a.first
}
