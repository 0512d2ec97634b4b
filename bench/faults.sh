#!/bin/sh
# Injects faults (kills, a full disk, too few open files) and prints the losses.
# ENGINE_KILLS, KEEPER_KILLS and BOTH_KILLS set the number of kills (300, 50 and 30), INPUT_FAULTS the
# rounds of typing and of pasting through kills and stops, in attach and the dashboard (200 each), and
# INPUT_SESSIONS the sessions that come and go while someone types, 100 keys for each (200).
cd "$(dirname "$0")/.." || exit 1
export CGO_ENABLED=0
go test -count=1 -run xxx -bench Faults -benchtime 1x -timeout 120m ./bench &&
	# Kills: both roles right after a short command starts, engine then keeper, and during upgrades.
	go test -count=1 -run xxx -bench 'DoubleDeaths|KillsOfEngineThenKeeper|KillsDuringUpgrades' -benchtime 1x -timeout 120m ./tests/engine
