import CoreDataModel
import Foundation
import SQLGeneration
import StoreEngine

extension SQLiteEngine: MigratedEngine {
    /// Removes one thing that a migration left, and notes in the metadata that it is gone, in one transaction.
    ///
    /// - Returns: whether there was one.
    package func finishDeferredTask() throws -> Bool {
        try following { try finishDeferredTask(of: $0) }
    }

    private func finishDeferredTask(of store: OpenStore) throws -> Bool {
        let (file, schema) = (store.file, store.schema)
        let structure = try StoreStructure(file)
        var left = DeferredCleanup(try file.metadata())
        guard !left.tasks.isEmpty else { return false }
        let task = DeferredCleanup([left.tasks.removeFirst()]).sparing(schema)
        let url = file.url
        // A statement that is being stepped through would keep the table.
        file.connection.removeCachedStatements()
        try file.run("finish the migration of", fallback: CoreDataErrorCode.migration) {
            try store.transaction {
                for task in structure.existing(task).tasks { try file.connection.execute(task.sql) }
                var metadata = try file.metadata()
                left.note(in: &metadata)
                let update = try file.connection.prepare(StoreTablesSQL.updateMetadata)
                try update.bind(StoreMetadata.data(of: metadata, url: url), at: 1)
                try update.run()
            }
        }
        left.note(in: &facts.metadata)
        return true
    }
}
