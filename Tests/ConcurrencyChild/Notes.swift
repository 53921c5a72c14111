import Foundation
import Pippin

/// Notes in two versions: the second one has the length of the text, which a closure computes.
package enum Notes {
    package enum V1 {
        package struct Note: CoreModel {
            package let uid: Int
            package var text: String

            package init(uid: Int, text: String) { (self.uid, self.text) = (uid, text) }
        }
    }
    package enum V2 {
        package struct Note: CoreModel {
            package let uid: Int
            package var text: String
            package var length: Int
        }
    }

    /// What another program keeps in the same file.
    package struct Label: CoreModel {
        package let uid: Int
        package var text: String
    }

    package static func labels(at url: URL) -> PersistenceManager {
        PersistenceManager(models: Label.self, name: "Labels", store: .file(url))
    }

    package static func old(at url: URL) -> PersistenceManager {
        PersistenceManager(models: V1.Note.self, name: "Notes", store: .file(url))
    }

    package static func new(at url: URL) -> PersistenceManager {
        PersistenceManager(models: V2.Note.self, name: "Notes", store: .file(url))
    }

    /// - Parameter pause: called for each note that is migrated.
    /// - Returns: the plan.
    package static func plan(pause: @escaping @Sendable () -> Void = {}) -> MigrationPlan {
        MigrationPlan(from: ModelVersion("1", models: V1.Note.self)).changing(
            to: ModelVersion("2", models: V2.Note.self),
            .model(V1.Note.self, to: V2.Note.self) { old in
                pause()
                return V2.Note(uid: old.uid, text: old.text, length: old.text.count)
            })
    }

    /// Saves one note after the other, from a number on, and tells of each that is saved, until a save fails.
    ///
    /// - Returns: why it failed.
    package static func save(in manager: PersistenceManager, from start: Int, saved: (Int) -> Void) -> any Error {
        var number = start
        while true {
            do { try manager.writeAndWait { try $0.save(V1.Note(uid: number, text: "note \(number)")) } } catch {
                return error
            }
            saved(number)
            number += 1
        }
    }
}
