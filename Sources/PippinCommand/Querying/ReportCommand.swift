import Foundation
import HTTPMessages
import StoreBrowser
import StoreCommands
import StoreReading

/// `pippin report`: one page on a store.
enum ReportCommand {
    static func run(_ options: ReportOptions, _ progress: ProgressLine, _ output: (String) throws -> Void) throws {
        defer { progress.end() }
        var opening = DirectStore.Opening(path: options.store, modelPath: options.model)
        opening.readsCopy = true
        let page = try StoreReportPage.html(try DirectStore(opening), date: Date()) { progress.say($0) }
        try OutputFile.write(to: options.output) { try $0(page.text) }
        progress.end()
        try output("“\(options.output)” was written\n")
    }
}
