import CSQLiteBaseline
import Foundation
import MatrixCodable
import MatrixMacro

// The matrix of shapes and works: processor time, sides in turns, medians; `make bench` prints it.

struct Figures {
    var coding: String
    var work: String
    var shape: String
    var nanoseconds: [String: Double]

    func ratio(to side: String) -> Double? {
        guard let ours = nanoseconds["Pippin"], let other = nanoseconds[side] else { return nil }
        return ours / other
    }
}

func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func two(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "" }

/// A line that is seen at once, also through a pipe.
func show(_ parts: String...) {
    FileHandle.standardOutput.write(Data((parts.joined(separator: " ") + "\n").utf8))
}

func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

/// One side of a cell, whichever way of coding its module has.
struct AnySide {
    let name: String
    let make: (URL) async throws -> (work: () async throws -> [UInt64], finish: () async throws -> [UInt64])
}

func measure(
    _ coding: String, _ work: String, _ shape: String, _ items: Int, _ sides: [AnySide], rounds: Int, folder: URL
) async throws -> Figures {
    var times: [String: [Double]] = [:]
    var outcome: [UInt64]?
    for round in 0..<rounds {
        // Who goes first changes.
        for place in sides.indices {
            let side = sides[(place + round) % sides.count]
            let run = try await side.make(folder)
            let start = seconds()
            let read = try await run.work()
            times[side.name, default: []].append((seconds() - start) * 1e9 / Double(items))
            let left = try await run.finish()
            if let outcome, side.name != "GRDB", outcome != read + left {
                throw DifferentOutcome(
                    message: "\(coding), \(work), \(shape), \(side.name): \(read + left), not \(outcome)")
            }
            if side.name != "GRDB" { outcome = read + left }
        }
    }
    return Figures(coding: coding, work: work, shape: shape, nanoseconds: times.mapValues(median))
}

struct DifferentOutcome: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}

var rounds = 5
var only: [String] = []
var onlySide: String?
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    switch (option, arguments.popFirst()) {
    case ("--rounds", let value?): rounds = Int(value) ?? rounds
    case ("--only", let value?): only.append(value)
    case ("--side", let value?): onlySide = value
    default:
        print(
            "usage: pippin-matrix [--rounds 5] [--side Pippin] [--only TEXT]…   (TEXT is in the way of coding, the work and the shape)"
        )
        exit(2)
    }
}

#if os(Linux)
    mallopt(M_TRIM_THRESHOLD, CInt.max)
    mallopt(M_MMAP_THRESHOLD, CInt.max)
#endif
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-matrix-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

let cells: [(coding: String, work: String, shape: String, items: Int, sides: [AnySide])] =
    MatrixMacro.Matrix.cells.map { cell in
        (
            MatrixMacro.Matrix.coding, cell.work, cell.shape, cell.items,
            cell.sides.map { side in
                AnySide(name: side.name) { folder in
                    let run = try await side.make(folder)
                    return (run.work, run.finish)
                }
            }
        )
    }
    + MatrixCodable.Matrix.cells.map { cell in
        (
            MatrixCodable.Matrix.coding, cell.work, cell.shape, cell.items,
            cell.sides.map { side in
                AnySide(name: side.name) { folder in
                    let run = try await side.make(folder)
                    return (run.work, run.finish)
                }
            }
        )
    }

var figures: [Figures] = []
var failures = 0
show("Processor time, medians of \(rounds) rounds; ratios to SQLite's C API, and to GRDB's fastest form\n")
show(padded("", 66), "   ns each    C   at its best   GRDB")
for cell in cells {
    let name = "\(cell.coding), \(cell.work), \(cell.shape)"
    guard only.allSatisfy({ name.contains($0) }) else { continue }
    let figure: Figures
    do {
        figure = try await measure(
            cell.coding, cell.work, cell.shape, cell.items,
            cell.sides.filter { onlySide == nil || $0.name == onlySide }, rounds: rounds, folder: folder)
    } catch {
        FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
        failures += 1
        continue
    }
    figures.append(figure)
    show(
        padded(name, 66), padded(String(format: "%10.0f", figure.nanoseconds["Pippin"] ?? 0), 12),
        padded(two(figure.ratio(to: "C")), 6), padded(two(figure.ratio(to: "C at its best")), 13),
        two(figure.ratio(to: "GRDB")))
}

show("\nWorst, median and best of each work, to C at its best; * is over 1.3 of its work's median\n")
var seen: [String] = []
for figure in figures where !seen.contains("\(figure.coding), \(figure.work)") {
    seen.append("\(figure.coding), \(figure.work)")
    let same = figures.filter { $0.coding == figure.coding && $0.work == figure.work }
        .compactMap { figure in figure.ratio(to: "C at its best").map { (ratio: $0, shape: figure.shape) } }
        .sorted { $0.ratio < $1.ratio }
    guard let best = same.first, let worst = same.last else { continue }
    let middle = same[same.count / 2].ratio
    let outliers = same.filter { $0.ratio > middle * 1.3 }.map { "\($0.shape) \(two($0.ratio))" }
    show(
        padded("\(figure.coding), \(figure.work)", 46), "worst \(two(worst.ratio)) (\(worst.shape))",
        "median \(two(middle))", "best \(two(best.ratio)) (\(best.shape))",
        outliers.isEmpty ? "" : "* \(outliers.joined(separator: ", "))")
}

try? FileManager.default.removeItem(at: folder)
exit(failures == 0 ? 0 : 1)
