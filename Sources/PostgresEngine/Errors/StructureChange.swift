/// The store is no longer of the version that was last seen: another program has migrated or removed it. The engine
/// catches this, and looks at the store again.
struct StructureChange: Error {}
