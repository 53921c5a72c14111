import Foundation

/// What a context could not read.
struct ReadFailures {
    /// The errors of objects whose values could not be read. A save does not overwrite their rows.
    private var errors: [NSManagedObjectID: NSError] = [:]
    /// The missing files of external data that were already reported: each is reported once.
    private var reportedFiles: Set<String> = []

    var isEmpty: Bool { errors.isEmpty }

    subscript(_ identifier: NSManagedObjectID) -> NSError? {
        get { errors[identifier] }
        set { errors[identifier] = newValue }
    }

    /// Records the report of a missing file.
    ///
    /// - Returns: whether it is the first one.
    mutating func report(_ path: String) -> Bool { reportedFiles.insert(path).inserted }

    /// Forgets the errors of a context's objects. Files that were reported stay so.
    mutating func reset() { errors = [:] }
}
