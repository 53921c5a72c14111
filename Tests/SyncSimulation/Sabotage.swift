/// A rule that a run breaks on purpose. Each is done at a seam of the simulation, where a real store or network would
/// go wrong, so that the planning itself has no switches.
package enum Sabotage: String, CaseIterable, Sendable {
    /// The server does not keep its answers to batches.
    case forgetsAnswers
    /// After a kill a device puts its frozen batch back among what is unsent.
    case thawsBatch
    /// A device does not write what was refused into the journal.
    case losesJournal
    /// A device sends a batch's transactions in the opposite order.
    case reversesBatch
    /// A page ends within a transaction.
    case cutsTransaction
    /// A pull shows the server's rows without what is unsent.
    case forgetsOwnEdits
    /// The server takes all teams for granted.
    case ignoresRights
    /// A device keeps the rows of a scope that it has lost.
    case keepsLeftRows
    /// An edit of a row that is not there makes it.
    case insertsOnUpdate
    /// A program writes defaults for properties that it does not know.
    case writesUnknown
    /// The server does not look for unique values.
    case missesUniqueValues
    /// The server does not look for referrers.
    case missesReferrers
    /// The cursor is written before the rows, in a transaction of its own.
    case movesCursorFirst
    /// Portions of a download come from whatever state the server has.
    case movesGeneration
    /// Edits have the wall clock's time.
    case trustsWallClock
    /// Closures are not noted before they run.
    case forgetsNotes
    /// A restored server has the name of its former life.
    case keepsEpoch
    /// A device forgets what the server has acknowledged.
    case forgetsAcknowledged
    /// A device does not keep that a closure has merged.
    case forgetsMerges
    /// A device takes whatever page follows a batch for the batch itself.
    case trustsEchoes
    /// A device goes on showing what was refused.
    case showsRefused
    /// The server's clock has a random part that the seed does not know.
    case isRandom
}
