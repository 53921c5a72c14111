/// A finished model of any type, and its size.
class MadeModel {
    let type: Any.Type
    let size: Size

    init(type: Any.Type, size: Size) {
        self.type = type
        self.size = size
    }

    /// The size of a model, including the models in it.
    struct Size {
        /// The levels of nested models, including this one.
        var depth = 1
        /// The number of models, each counted wherever it occurs. Models that share others can therefore be larger than
        /// the store.
        var count = 1

        /// Adds the size of a model within this one.
        mutating func add(_ inner: Size) {
            depth = max(depth, inner.depth + 1)
            let (sum, overflows) = count.addingReportingOverflow(inner.count)
            count = overflows ? .max : sum
        }
    }
}

final class MadeModelOf<Model>: MadeModel {
    let model: Model

    init(_ model: Model, size: Size) {
        self.model = model
        super.init(type: Model.self, size: size)
    }
}

extension MadeModel {
    /// The model, as a value of its type.
    func model<Model>(as type: Model.Type) -> Model? {
        guard self.type == type else { return nil }
        // The types are the same, as was just checked. A cast would look that up again, slowly.
        return unsafeDowncast(self, to: MadeModelOf<Model>.self).model
    }
}

/// The model of a row, or the reason why it cannot be made. A model that contains it may do without it.
typealias AssembledModel = Result<MadeModel, any Error>

/// Limits for the size of values.
enum AssemblyLimits {
    /// The levels of nested models. Code of the standard library releases, compares and hashes such a value level by
    /// level on the thread's stack: 32,000 levels could still be released on 8 MB, and 8,000 compared without
    /// optimization.
    static let depth = 10_000
    /// The levels of models in a set, which hashes its elements: 4,000 could be hashed on 8 MB without optimization.
    static let depthInSet = 2_000
    /// The number of models in a set, each counted wherever it occurs.
    static let countInSet = 1_000_000
    /// How many models on cycles may be made: they differ on each path that leads to them.
    static let repetitions = 200_000
}
