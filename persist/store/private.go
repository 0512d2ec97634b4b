package store

// savedPart returns the part of a record that is saved to disk. Of a private session, that is what
// an engine needs to find and stop its child. Fields are listed here, rather than cleared, so that a
// new field stays off the disk.
func (r Record) savedPart() Record {
	if !r.Private {
		return r
	}
	saved := Record{
		ID: r.ID, Kind: r.Kind, Name: r.Name, Origin: r.Origin,
		Terminal: Terminal{TTY: r.TTY, Private: true, Cols: r.Cols, Rows: r.Rows},
		Keyboard: r.Keyboard, AdmitsSandboxed: r.AdmitsSandboxed,
		Desired: r.Desired, EndedBy: r.EndedBy, State: r.State,
		Identity: r.Identity, Former: r.Former, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt,
		LogLimit: r.LogLimit, Cgroup: r.Cgroup, Progress: r.Progress,
	}
	saved.StopSignal, saved.StopTimeoutMS = r.StopSignal, r.StopTimeoutMS
	saved.LogStart, saved.After = 0, nil // the log is lost with the engine
	return saved
}
