import Foundation

extension CocoaError {
    /// The conflicts that a save met: the value of `NSPersistentStoreSaveConflictsErrorKey`.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
