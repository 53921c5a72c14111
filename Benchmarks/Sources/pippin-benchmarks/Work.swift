import Foundation

/// One kind of work, done by both sides.
struct Work: Sendable {
    let title: String
    /// The most that ours may take, in times of the baseline's; nil where nothing is promised.
    let budget: Double?
    /// How often the thing that is counted happens when there are `objects` objects.
    let operations: @Sendable (_ objects: Int) -> Int
    let ours: Side
    let baseline: Side
}

/// Sets up, unmeasured, and returns what is to be measured.
typealias Side = @Sendable (_ workspace: Workspace, _ objects: Int) throws -> Trial

/// One measured run, and what it left behind, for comparison with the other side's.
final class Trial {
    let store: URL
    let run: () throws -> Checksum
    /// Whether the run changes the store.
    let changesStore: Bool
    /// What must follow for the outcomes to be the same, unmeasured.
    let finish: () throws -> Void

    init(
        store: URL, changesStore: Bool, finish: @escaping () throws -> Void = {}, run: @escaping () throws -> Checksum
    ) {
        self.store = store
        self.changesStore = changesStore
        self.finish = finish
        self.run = run
    }
}

/// Works that are compared with the same kind of thing.
struct WorkTable: Sendable {
    let heading: String
    /// What the columns of the times say.
    let ours: String
    let baseline: String
    /// Whether the works are compared at several sizes of the store; those of a fixed size are not.
    var isOfAnySize = true
    let works: [Work]
}
