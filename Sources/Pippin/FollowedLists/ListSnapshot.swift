import StoreSession

/// A list of models with the keys of their rows, as it was in one state of the stores.
struct ListSnapshot<Model: CoreModel>: Sendable {
    let models: [Model]
    /// The primary key of each model's row.
    let keys: ContiguousArray<Int64>
    let moment: StoresMoment
}
