package vt

// A Grid keeps the cells of one screen and nothing else. The front end gives
// it whole clusters, clamped coordinates and interned styles.
type Grid interface {
}
