package api

// DataDir tells the data folder: $TANDEM_DATA_DIR, or tandem in
// $XDG_STATE_HOME, or ~/.local/state/tandem. Absolute; it need not exist.
func DataDir() (string, error) { panic("not written") }

// Sockets tells where the engine's and the keeper's sockets of a data folder
// are: in it, or, where the path would be too long for a socket address, in
// $XDG_RUNTIME_DIR/tandem (or a 0700 folder in the temporary folder) under a
// name made from a hash of the data folder.
func Sockets(dataDir string) (engine, keeper string) { panic("not written") }
