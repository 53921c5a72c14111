import CoreDataModel
import Foundation
import StoreEngine
import StoreReading

/// A store that is being asked.
final class Session {
    let store: DirectStore
    private var format = RowFormat.table

    init(_ store: DirectStore) { self.store = store }

    /// A query that has an answer.
    var example: String { "\(store.layout.entities.first { !$0.isAbstract }?.name ?? "Book") limit 20" }

    /// Lines of a file or a pipe, without a prompt; the first mistake ends it.
    ///
    /// - Throws: `OutputBuffer.Closed` if the reader has closed the output.
    func readAll() throws -> Int32 {
        let output = OutputBuffer(STDOUT_FILENO)
        while let line = readLine() {
            do {
                let goesOn = try answer(line, output.write)
                // Whoever writes the lines may wait for the answer to one before the next.
                try output.flush()
                if !goesOn { break }
            } catch let closed as OutputBuffer.Closed {
                throw closed
            } catch {
                try? output.flush()
                StandardStreams.complain("pippin: \(Self.message(of: error))\n")
                return 1
            }
        }
        // As of a query alone, something may be missing.
        return store.damage == nil ? 0 : 1
    }

    /// - Returns: whether to go on.
    func answer(_ line: String, _ output: (String) throws -> Void) throws -> Bool {
        switch try ShellLine(line) {
        case .nothing: break
        case .quit: return false
        case .help: try output(ShellLine.helpText)
        case .format(let format): self.format = format
        case .entities:
            try store.checkFile()
            let rows = try store.layout.entities.map { entity in
                [
                    entity.name,
                    TextTools.grouped(
                        Int64(try store.asking { try $0.fetchCount(PageRequest(entity: entity).countPlan) })),
                ]
            }
            try output(EntityText.table(rows, indent: 2).joined(separator: "\n") + "\n")
        case .describe(let name):
            guard let document = store.document.entity(named: name) else {
                throw ShellLine.Mistake(message: "there is no entity “\(name)”")
            }
            try output(EntityText.table(EntityText.rows(of: document), indent: 2).joined(separator: "\n") + "\n")
        case .query(let text):
            try store.checkFile()
            let plan = try QueryText(text).plan(store.layout, sortsByKey: store.pagesByKey)
            let remarks = try QueryOutput(store, plan, RowColumns(of: plan.entity)).write(format, output)
            for text in remarks.misread { Self.warn(text) }
            if let omission = remarks.omission { throw CommandError(omission) }
        }
        return true
    }

    /// Says what is otherwise than it seems, as a sentence without its final period.
    static func warn(_ sentence: String) {
        StandardStreams.complain("pippin: warning: \(TextTools.plainLines(sentence))\n")
    }

    static func message(of error: any Error) -> String {
        let message =
            switch error {
            case let error as CommandError: error.message
            case let error as TextProblem: error.description
            case let error as ShellLine.Mistake: error.message
            default:
                [(error as NSError).localizedDescription, StoreRepair.advice(for: error)].compactMap { $0 }
                    .joined(separator: " ")
            }
        return TextTools.plainLines(message)
    }
}
