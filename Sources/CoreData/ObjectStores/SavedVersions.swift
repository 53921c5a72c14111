import CoreDataModel

/// The versions of objects that contexts have saved to an incremental store.
///
/// A save increases the version of a context's object by one. A developer's store may count otherwise, take a time
/// stamp, or have one version for everything: what it says when it is first asked after a save is the version of that
/// save.
struct SavedVersions {
    /// For each object the version that its context has since the last save, and the store's; `nil` until the store is
    /// asked.
    private var entries: [NSManagedObjectID: (saved: Int64, stored: Int64?)] = [:]

    mutating func noteSave(_ version: Int64, of identifier: NSManagedObjectID) {
        entries[identifier] = (version, nil)
    }

    mutating func noteRead(_ stored: Int64, of identifier: NSManagedObjectID) {
        guard let entry = entries[identifier], entry.stored == nil else { return }
        entries[identifier] = entry.saved == stored ? nil : (entry.saved, stored)
    }

    /// Whether the version of a context's object is the store's present one.
    func agrees(_ version: Int64, with stored: Int64, of identifier: NSManagedObjectID) -> Bool {
        guard let entry = entries[identifier], entry.saved == version else { return version == stored }
        return entry.stored == stored
    }
}
