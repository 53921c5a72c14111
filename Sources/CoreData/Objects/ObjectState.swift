/// The states of an object in its context.
package struct ObjectState: OptionSet {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Has no values to show yet; reading a property makes it take them.
    static let fault = ObjectState(rawValue: 1)
    /// A fault whose values have already been fetched, along with others.
    static let valuesPending = ObjectState(rawValue: 2)
    /// New, not in the store.
    static let inserted = ObjectState(rawValue: 4)
    /// Changed since it was fetched or saved.
    static let updated = ObjectState(rawValue: 8)
    /// Will be deleted by the next save.
    static let deleted = ObjectState(rawValue: 16)
    /// Inserted since changes were last processed.
    static let insertedInEvent = ObjectState(rawValue: 32)
    /// Changed since changes were last processed.
    static let updatedInEvent = ObjectState(rawValue: 64)
    /// Deleted since changes were last processed.
    static let deletedInEvent = ObjectState(rawValue: 128)
    /// Its delete rules have been applied.
    static let deletePropagated = ObjectState(rawValue: 256)
    /// Was fetched with a batch size: firing the fault loads its whole batch.
    static let inBatch = ObjectState(rawValue: 512)
    /// The store no longer has it.
    static let inaccessible = ObjectState(rawValue: 1024)
    /// Listed among the context's changed objects.
    static let listed = ObjectState(rawValue: 2048)
    /// A probe, which records the keys that are read from it; see `KeyPathProbe`.
    static let probe = ObjectState(rawValue: 4096)
    /// `willSave` was called for the current save.
    static let willSaveCalled = ObjectState(rawValue: 8192)
    /// Will be checked for conflicts by the next save although it is unchanged.
    static let watched = ObjectState(rawValue: 16384)
    /// Among the objects of the notification that is being posted.
    static let posting = ObjectState(rawValue: 32768)
    /// Its use is checked to be on its context's queue; see `ConcurrencyDebug`.
    static let checked = ObjectState(rawValue: 65536)

    /// Has the values of the current fetch; `awakeFromFetch` has not been called yet.
    static let asleep = ObjectState(rawValue: 131072)

    /// Has had an observer; see `ObservationInfo`.
    static let observed = ObjectState(rawValue: 262144)

    /// A fault that no context can fire, and that shows default values after it was read.
    static let hollow = ObjectState(rawValue: 524288)

    /// A fault that was fired although its row is gone: it shows no values.
    static let lost = ObjectState(rawValue: 1_048_576)

    /// Was new, and the context tells the objects of its save that they are saved.
    static let savedAsInserted = ObjectState(rawValue: 2_097_152)

    /// Was changed, and the context tells the objects of its save that they are saved.
    static let savedAsUpdated = ObjectState(rawValue: 4_194_304)

    static let anyChange: ObjectState = [.inserted, .updated, .deleted]
    static let anyEvent: ObjectState = [.insertedInEvent, .updatedInEvent, .deletedInEvent]
}

/// Why the values of an object were reset.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// The raw value, as Apple numbers the events.
    public let rawValue: UInt
    /// Makes a set of events from its raw value.
    ///
    /// - Parameter rawValue: the bits of Core Data's constants.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// An insertion was undone.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    /// A deletion was undone.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    /// An update was undone.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    /// The context was rolled back.
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    /// The object was refreshed.
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    /// A merge policy resolved a conflict.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
