import CoreDataModel
import Foundation
import StoreEngine

/// What came of a step, in terms of numbers instead of IDs, so that two engines' can be compared.
enum Outcome: Equatable {
    case done
    /// The objects found, in order; without one, by number.
    case found([Int])
    case dictionaries([[String: Value]])
    case batch(count: Int, [Int])
    case conflicts([Conflict])
    case violations([Violation])
    case failed(String)

    struct Conflict: Equatable {
        let number: Int
        let current: ContiguousArray<StoredValue>?
    }

    struct Violation: Equatable {
        let entity: String
        let constraint: [String]
        let conflicting: [Int]
        let stored: Int?
    }

    /// A word for statistics.
    var kind: String {
        switch self {
        case .done: "done"
        case .found(let numbers): numbers.isEmpty ? "nothing found" : "found"
        case .dictionaries: "dictionaries"
        case .batch: "done"
        case .conflicts: "conflicts"
        case .violations: "violations"
        case .failed(let reason): "failed \(reason)"
        }
    }
}

/// That an engine contradicts itself: two ways to ask for the same gave two answers.
struct Contradiction: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What steps throw on purpose, in the middle of a save or batch.
struct IntendedFailure: Error {}
