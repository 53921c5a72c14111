import Foundation
import HTTPMessages
import StoreBrowser
import StoreReading

/// `pippin report`: one page on a store.
enum ReportCommand {
    static func run(_ options: ReportOptions, _ progress: ProgressLine, _ output: (String) throws -> Void) throws {
        defer { progress.end() }
        var opening = DirectStore.Opening(path: options.store, modelPath: options.model)
        (opening.readsCopy, opening.salvages) = (true, true)
        let page: HTML
        do { page = try self.page(opening, progress) } catch  where StoreRepair.isDamage(error) {
            opening.isDamaged = true
            page = try self.page(opening, progress)
        }
        try OutputFile.write(to: options.output) { try $0(page.text) }
        progress.end()
        try output("“\(options.output)” was written\n")
    }

    private static func page(_ opening: DirectStore.Opening, _ progress: ProgressLine) throws -> HTML {
        try StoreReportPage.html(try DirectStore(opening), date: Date()) { progress.say($0) }
    }
}
