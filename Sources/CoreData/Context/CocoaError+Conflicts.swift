import Foundation

extension CocoaError {
    /// The conflicts of a save: the value of `NSPersistentStoreSaveConflictsErrorKey`.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
}
