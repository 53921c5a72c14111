/// Limits for models in models, which programs' conversions follow from one to the next.
enum RecordLimits {
    /// The levels of models in models. Each takes a part of the thread's stack.
    static let depth = 1_000
    static let depthReason = "models are in models more than \(depth) levels deep."
    /// How many structs on cycles in one struct may be made again: they differ on each path that leads to them.
    static let repetitions = 200_000
    static let repetitionsReason = "models that lead back to themselves would be in it more than \(repetitions) times."
    /// How many records may be filled again within one model, because its models differ from place to place.
    @TaskLocal static var refills = 1_000_000
    static var refillsReason: String {
        "the models in it occur more than \(refills) times, with different values."
    }
}
