/// Says that the store is not of the version that it was when it was looked at last: another program has migrated it, or taken it
/// away. Caught by the engine, which looks at it again.
struct StructureChange: Error {}
