import CoreDataModel
import Foundation
import StoreEngine

extension Session {
    /// Performs a step.
    ///
    /// - Throws: `Contradiction` where the engine's answers do not fit each other; everything else is an outcome.
    func perform(_ step: Step) throws -> Outcome {
        isChanged = true
        return try outcome {
            switch step {
            case .save(let save):
                try self.save(save)
                return .done
            case .fetch(let fetch): return try self.fetch(fetch)
            case .dictionaries(let dictionaries): return try self.dictionaries(dictionaries)
            case .insertBatch(let batch): return try self.insertBatch(batch)
            case .updateBatch(let batch): return try self.updateBatch(batch)
            case .deleteBatch(let batch): return try self.deleteBatch(batch)
            case .longTransaction(let saves, let commits): return try self.runLongTransaction(saves, commits: commits)
            case .reserveKeys(let entity, let more):
                try self.reserveKeys(entity, more: more)
                return .done
            case .reopen:
                try self.reopen()
                return .done
            }
        }
    }

    func outcome(_ body: () throws -> Outcome) throws -> Outcome {
        do { return try body() } catch let contradiction as Contradiction {
            throw contradiction
        } catch {
            return outcome(of: error)
        }
    }

    /// An error by its kind.
    func outcome(of error: any Error) -> Outcome {
        switch error {
        case SaveRefusal.optimisticLocking(let conflicts):
            return .conflicts(
                conflicts.map { Outcome.Conflict(number: number($0.objectID), current: $0.current.map(plain)) }
                    .sorted { $0.number < $1.number })
        case SaveRefusal.constraints(let violations):
            return .violations(
                violations.map { violation in
                    Outcome.Violation(
                        entity: violation.entity.name, constraint: violation.constraint,
                        conflicting: violation.conflicting.map(number).sorted(),
                        stored: violation.stored.map { number($0.objectID) })
                }.sorted { "\($0)" < "\($1)" })
        case is IntendedFailure: return .failed("on purpose")
        default:
            let error = error as NSError
            return .failed("\(error.domain) \(error.code)")
        }
    }
}
