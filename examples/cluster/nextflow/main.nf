// A job of all pairs in parts, as a Nextflow workflow:
//
//   nextflow run main.nf --table counts.npy --parts 64 --call spearman --cut "--max-p 1e-6" -resume
//
// A part that fails is run again. For --adjust bh, whose cut takes rounds over all parts, take
// slurm_job.sh or mpi_job.sh.
params.table = null
params.parts = 8
params.call = 'spearman'
params.cut = '--max-p 1e-6'
params.output = 'edges.tsv'
params.command = 'gpu-similarity'

process part {
  errorStrategy 'retry'
  maxRetries 3
  cpus 4

  input:
  tuple val(k), path(table)

  output:
  path 'job/*'

  script:
  """
  OMP_NUM_THREADS=${task.cpus} ${params.command} ${params.call} ${table} ${params.cut} --quiet \\
    --part ${k}/${params.parts} --output-dir job
  """
}

process merge {
  publishDir '.', mode: 'move'
  stageInMode 'copy' // a link in the folder is taken for a damaged part

  input:
  path 'job/*'

  output:
  path params.output

  script:
  """
  ${params.command} merge job --output ${params.output}
  """
}

workflow {
  if (!params.table) error 'name a table: --table FILE'
  parts = channel.of(1..params.parts)
  table = channel.fromPath(params.table, checkIfExists: true).first()
  part(parts.combine(table))
  merge(part.out.flatten().collect())
}
