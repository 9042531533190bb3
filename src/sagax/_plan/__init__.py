"""Plan a training step on many devices, before renting them: `sagax.plan`.

`partition` lowers and partitions the step, `hlo` reads the program of one device, `counts` counts its
operations, bytes and collectives, `memory` what is alive, `hardware` describes chips and links, `timing`
turns counts into seconds, `warnings` finds shardings that were hardly meant, `costs` holds it all, `report` shows it,
`search` tries meshes and shardings, and `failures` plans checkpoints. `planner` puts these together, and `public` has the public names.
"""
