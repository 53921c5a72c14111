import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension SQLiteEngine: MigratedEngine {
    /// Removes one table or column whose removal was deferred, and records that in the metadata, in one transaction.
    ///
    /// - Returns: whether there was a task.
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
        // A statement that is being stepped would lock the table.
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
