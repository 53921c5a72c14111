/// How a list became another one, by places.
struct ListEdit: Sendable, Equatable {
    /// The places in the former list of the models that are gone, ascending.
    var removals: [Int] = []
    /// The places of the new models, ascending.
    var insertions: [Int] = []
    /// The places in the new list of the models that stayed and have other values, ascending.
    var updates: [Int] = []
    /// The models that stayed and have another place relative to each other.
    var moves: [Move] = []

    struct Move: Sendable, Equatable {
        /// The place in the former list.
        let from: Int
        /// The place in the new list.
        let to: Int
    }

    var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && updates.isEmpty && moves.isEmpty }
}

/// Distinguishes one reading of an observation from every other.
final class ReadingMark: Sendable {}
