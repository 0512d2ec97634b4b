package cli

import (
	"runtime/debug"

	"tandem/ui/cli/factory"
)

// A versionAnswer is the answer of tandem --version. Without its source's repository, a program
// built by hand knows neither commit nor date.
type versionAnswer struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`     // of the commit, as in RFC 3339
	Modified bool   `json:"modified,omitempty"` // whether files differed from the commit
}

func printVersion(f *factory.Factory) error {
	answer := versionAnswer{f.Version, f.Commit, f.Date, false}
	if info, ok := debug.ReadBuildInfo(); ok && f.Commit == "" {
		answer.readStamp(info.Settings)
	}
	return f.Out.Answer(answer, answer.text)
}

// readStamp reads what the go command recorded about the source.
func (a *versionAnswer) readStamp(settings []debug.BuildSetting) {
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			a.Commit = s.Value
		case "vcs.time":
			a.Date = s.Value
		case "vcs.modified":
			a.Modified = s.Value == "true"
		}
	}
}

// text returns the answer in lines. The first is read by other machines (package machines), also by
// those with an older Tandem, so it has the version only.
func (a *versionAnswer) text() string {
	text := "tandem " + a.Version + "\n"
	if a.Commit == "" {
		return text
	}
	text += "commit " + a.Commit
	if day := a.Date; len(day) >= len("2006-01-02") {
		text += ", " + day[:len("2006-01-02")]
	}
	if a.Modified {
		text += ", with changes"
	}
	return text + "\n"
}
