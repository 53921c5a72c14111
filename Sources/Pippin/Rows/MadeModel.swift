/// A finished model of any type, and its size.
class MadeModel {
    let type: Any.Type
    let size: Size

    init(type: Any.Type, size: Size) {
        self.type = type
        self.size = size
    }

    /// The extent of a model with the models in it.
    struct Size {
        /// The levels of models, this one included.
        var depth = 1
        /// How many models there are when each is counted wherever it is: models that share one are larger together than the store.
        var count = 1

        /// Takes in a model.
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
        // The type is the same, as was just found out: a cast would look it up once more, slowly.
        return unsafeDowncast(self, to: MadeModelOf<Model>.self).model
    }
}

/// The model of a row, or the reason why it cannot be made. A model that contains it may do without it.
typealias Making = Result<MadeModel, any Error>

/// How large values may become.
enum AssemblyLimits {
    /// The levels of models in models. Releasing such a value, comparing and hashing it go level by level on the stack of the
    /// thread, by code that is not ours: 32,000 levels could still be released on 8 MB, and 8,000 compared without optimization.
    static let depth = 10_000
    /// The levels below a set, which hashes what it takes: 4,000 could be hashed on 8 MB without optimization.
    static let depthInSet = 2_000
    /// The models below a set, each counted wherever it is.
    static let countInSet = 1_000_000
    /// How often models may be made that lead back to themselves: these look different on each way to them.
    static let repetitions = 200_000
}
