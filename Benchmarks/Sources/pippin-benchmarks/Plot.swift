import Foundation

/// The ratios of a report as bars, as SVG. Pure.
struct Plot {
    let report: Report

    /// The works that are compared with the C API.
    private var works: [Report.Entry] { report.works.filter { $0.against == "C API" } }

    private static let (width, labels, row, top) = (860.0, 430.0, 22.0, 46.0)
    /// The ratio at the right end; what is larger is cut off, and says so.
    private static let limit = 4.0

    var svg: String {
        let height = Self.top + Double(works.count) * Self.row + 30
        let bars = works.enumerated().map { bar($1, at: Self.top + Double($0) * Self.row) }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Self.width)) \(number(height))" \
            font-family="sans-serif" font-size="12">
            <style>text{fill:#333}.scale{stroke:#ccc}.bar{fill:#5b8c3e}.over{fill:#c9812b}.budget{stroke:#333;stroke-width:2}
            @media (prefers-color-scheme:dark){text{fill:#ddd}.scale{stroke:#555}.budget{stroke:#eee}}</style>
            <text x="4" y="16" font-size="14">Processor time against SQLite's C API by hand (1.0); the mark is the budget</text>
            \(scale(height))
            \(bars.joined(separator: "\n"))
            </svg>

            """
    }

    private func scale(_ height: Double) -> String {
        stride(from: 0.0, through: Self.limit, by: 1).map { value in
            let x = number(x(value))
            return
                "<line class=\"scale\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(number(Self.top - 6))\" y2=\"\(number(height - 24))\"/>"
                + "<text x=\"\(x)\" y=\"\(number(height - 8))\" text-anchor=\"middle\">\(number(value))</text>"
        }.joined(separator: "\n")
    }

    private func bar(_ entry: Report.Entry, at y: Double) -> String {
        let isOver = entry.budget.map { entry.ratio > $0 } ?? false
        let end = x(min(entry.ratio, Self.limit))
        // Behind the mark, where that is near.
        let mark = entry.budget.map { x($0) } ?? 0
        let label = mark > end && mark < end + 36 ? mark : end
        var parts = [
            "<text x=\"\(number(Self.labels - 8))\" y=\"\(number(y + 13))\" text-anchor=\"end\">\(escaped(entry.title))</text>",
            "<rect class=\"\(isOver ? "over" : "bar")\" x=\"\(number(x(0)))\" y=\"\(number(y + 2))\" "
                + "width=\"\(number(end - x(0)))\" height=\"14\"/>",
            "<text x=\"\(number(label + 4))\" y=\"\(number(y + 13))\">\(String(format: "%.2f", entry.ratio))</text>",
        ]
        if let budget = entry.budget, budget <= Self.limit {
            let x = number(x(budget))
            parts.append(
                "<line class=\"budget\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(number(y))\" y2=\"\(number(y + 18))\"/>")
        }
        return parts.joined()
    }

    private func x(_ ratio: Double) -> Double { Self.labels + ratio / Self.limit * (Self.width - Self.labels - 50) }

    private func number(_ value: Double) -> String { String(format: "%g", (value * 10).rounded() / 10) }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
